import { existsSync } from "node:fs";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schedule } from "effect";
import { outputOfKilled } from "../test_killed_parent.ts";
import { askRedis } from "./ask_redis.ts";
import { startRedis, whyNoRedis } from "./redis.ts";

const missing = await whyNoRedis();

const isSilent = (port: number) =>
  Effect.isFailure(Effect.tryPromise(() => askRedis({ port, tls: false }, ["PING"])));

const isGone = (port: number, configFile: string) =>
  Effect.map(isSilent(port), (silent) => silent && !existsSync(configFile));

const configFileIn = (info: string): string => /config_file:(\S+)/.exec(info)?.[1] ?? "";

describe.skipIf(missing !== null)(`tests ${missing ?? "on a Redis of their own"}`, () => {
  it.live("loses its data when it is killed, does not answer while it is frozen, and leaves no files", () =>
    Effect.gen(function* () {
      const { port, configFile } = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startRedis();
          yield* server.ask("SET", "key", "value");
          yield* server.freeze;
          assert.isTrue(yield* isSilent(server.port));
          yield* server.thaw;
          assert.strictEqual(yield* server.ask("GET", "key"), "$5\r\nvalue\r\n");
          yield* server.kill;
          yield* server.restart;
          assert.strictEqual(yield* server.ask("GET", "key"), "$-1\r\n");
          return { port: server.port, configFile: configFileIn(yield* server.ask("INFO", "server")) };
        }),
      );
      assert.isTrue(yield* isGone(port, configFile));
    }),
  );

  it.live("keeps saved data when it is killed, until it is deleted", () =>
    Effect.gen(function* () {
      const server = yield* startRedis({ config: ["appendonly yes"] });
      yield* server.ask("SET", "key", "value");
      yield* server.kill;
      yield* server.restart;
      assert.strictEqual(yield* server.ask("GET", "key"), "$5\r\nvalue\r\n");
      yield* server.kill;
      yield* server.forget;
      yield* server.restart;
      assert.strictEqual(yield* server.ask("GET", "key"), "$-1\r\n");
    }),
  );

  it.live("ends when its parent process is killed, also while frozen", () =>
    Effect.gen(function* () {
      const program = `
        import { Effect } from "effect";
        import { startRedis } from "${import.meta.resolve("./redis.ts")}";
        const die = Effect.gen(function* () {
          const server = yield* startRedis();
          console.log(JSON.stringify({ port: server.port, info: yield* server.ask("INFO", "server") }));
          yield* server.freeze;
          process.kill(process.pid, "SIGKILL");
        });
        await Effect.runPromise(Effect.scoped(die));
      `;
      const { port, info } = yield* outputOfKilled<{ readonly port: number; readonly info: string }>(program);
      yield* Effect.repeat(isGone(port, configFileIn(info)), {
        until: (gone) => gone,
        schedule: Schedule.spaced("10 millis"),
      });
    }),
  );
});
