import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schedule } from "effect";
import { outputOfKilled } from "../test_killed_parent.ts";
import { makePostgresDatabase, type PostgresServer, startPostgres, whyNoPostgres } from "./postgres.ts";

const missing = await whyNoPostgres();

const folderOf = Effect.fnUntraced(function* (server: PostgresServer) {
  const { query } = yield* makePostgresDatabase(server);
  const [row] = yield* query("SELECT current_setting('data_directory') AS folder");
  return String(row?.["folder"]);
});

const isGone = (port: number, folder: string) =>
  Effect.promise(async () => {
    const socket = connect(port, "127.0.0.1");
    const isRefused = await once(socket, "connect").then(
      () => false,
      () => true,
    );
    socket.destroy();
    return isRefused && !existsSync(folder);
  });

describe.skipIf(missing !== null)(`tests ${missing ?? "on a Postgres of their own"}`, () => {
  it.live("keeps its data when it is killed, and leaves no files", () =>
    Effect.gen(function* () {
      const { port, folder } = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startPostgres({ config: ["max_connections = 20"] });
          const { query } = yield* makePostgresDatabase(server);
          yield* query("CREATE TABLE things AS SELECT current_setting('max_connections') AS name");
          for (const end of [server.kill, server.stop]) {
            yield* end;
            yield* server.restart;
            assert.deepStrictEqual(yield* query("SELECT name FROM things"), [{ name: "20" }]);
          }
          yield* server.freeze;
          yield* server.thaw;
          assert.deepStrictEqual(yield* query("SELECT $1::text AS name", ["b"]), [{ name: "b" }]);
          return { port: server.port, folder: yield* folderOf(server) };
        }),
      );
      assert.isTrue(yield* isGone(port, folder));
    }),
  );

  it.live("creates separate databases, and drops them with their scopes", () =>
    Effect.gen(function* () {
      const names = yield* Effect.scoped(
        Effect.gen(function* () {
          const [one, other] = [yield* makePostgresDatabase(), yield* makePostgresDatabase()];
          yield* one.query("CREATE TABLE things (id INT)");
          yield* other.query("CREATE TABLE things (id INT)");
          return [one.url, other.url].map((url) => new URL(url).pathname.slice(1));
        }),
      );
      const { query } = yield* makePostgresDatabase();
      const left = yield* query("SELECT datname FROM pg_database WHERE datname = ANY ($1)", [names]);
      assert.deepStrictEqual(left, []);
    }),
  );

  it.live("ends when its parent process is killed", () =>
    Effect.gen(function* () {
      const program = `
        import { Effect } from "effect";
        import { makePostgresDatabase, startPostgres } from "${import.meta.resolve("./postgres.ts")}";
        const die = Effect.gen(function* () {
          const server = yield* startPostgres();
          const { query } = yield* makePostgresDatabase(server);
          const [row] = yield* query("SELECT current_setting('data_directory') AS folder");
          console.log(JSON.stringify({ port: server.port, ...row }));
          process.kill(process.pid, "SIGKILL");
        });
        await Effect.runPromise(Effect.scoped(die));
      `;
      const { port, folder } = yield* outputOfKilled<{ readonly port: number; readonly folder: string }>(
        program,
      );
      yield* Effect.repeat(isGone(port, folder), {
        until: (gone) => gone,
        schedule: Schedule.spaced("20 millis"),
      });
    }),
  );
});
