import { Effect, Schedule } from "effect";
import { startRedis } from "./redis.ts";

const masterName = "accountlink";

/**
 * Starts a master, its replica, and a sentinel that fails over within a few seconds. They are stopped when the scope
 * closes or this process ends.
 */
export const startRedisSentinel = Effect.gen(function* () {
  const master = yield* startRedis({ config: ["repl-diskless-sync-delay 0"] });
  const replica = yield* startRedis({ config: [`replicaof 127.0.0.1 ${master.port}`] });
  const holds = (info: string) =>
    replica.ask("INFO", "replication").pipe(
      Effect.map((text) => text.includes(info)),
      // The replica closes its connections when it is promoted, so this request may fail. `until` then sends it again.
      Effect.catchDefect(() => Effect.succeed(false)),
    );
  yield* until(holds("master_link_status:up"));
  const sentinel = yield* startRedis({
    sentinel: true,
    config: [
      `sentinel monitor ${masterName} 127.0.0.1 ${master.port} 1`,
      `sentinel down-after-milliseconds ${masterName} 300`,
      `sentinel failover-timeout ${masterName} 3000`,
    ],
  });
  yield* until(
    Effect.map(sentinel.ask("SENTINEL", "MASTER", masterName), (text) =>
      text.includes("num-slaves\r\n$1\r\n1"),
    ),
  );
  return {
    master,
    replica,
    sentinel,
    failover: until(holds("role:master")),
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/${masterName}`,
  };
});

const until = (condition: Effect.Effect<boolean>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("20 millis") });
