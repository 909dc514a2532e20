import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { describe, it } from "@effect/vitest";
import { Effect, Schedule } from "effect";
import { outputOfKilled } from "../test_killed_parent.ts";
import { whyNoPostgres } from "./postgres.ts";

const missing = await whyNoPostgres();

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
