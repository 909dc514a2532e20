import { existsSync } from "node:fs";
import { describe, it } from "@effect/vitest";
import { Effect, Schedule } from "effect";
import { outputOfKilled } from "../test_killed_parent.ts";
import { askRedis } from "./ask_redis.ts";
import { whyNoRedis } from "./redis.ts";

const missing = await whyNoRedis();

const isSilent = (port: number) =>
  Effect.isFailure(Effect.tryPromise(() => askRedis({ port, tls: false }, ["PING"])));

const isGone = (port: number, configFile: string) =>
  Effect.map(isSilent(port), (silent) => silent && !existsSync(configFile));

const configFileIn = (info: string): string => /config_file:(\S+)/.exec(info)?.[1] ?? "";

describe.skipIf(missing !== null)(`tests ${missing ?? "on a Redis of their own"}`, () => {
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
