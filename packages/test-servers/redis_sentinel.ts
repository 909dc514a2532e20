/** A Redis with a replica, watched by a sentinel, for tests. */
import { Effect, Schedule } from "effect";
import { startRedis } from "./redis.ts";

/** How the sentinel calls the master. */
const masterName = "accountlink";

/**
 * Starts a master, a replica of it, and a sentinel that replaces the one by the other within a few seconds. They are
 * gone with the scope, or with this process.
 */
export const startRedisSentinel = Effect.gen(function* () {
  const master = yield* startRedis({ config: ["repl-diskless-sync-delay 0"] });
  const replica = yield* startRedis({ config: [`replicaof 127.0.0.1 ${master.port}`] });
  const holds = (info: string) =>
    replica.ask("INFO", "replication").pipe(
      Effect.map((text) => text.includes(info)),
      // The sentinel closes every connection of the one that it makes the master.
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
    /** Waits until the replica is the master. */
    failover: until(holds("role:master")),
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/${masterName}`,
  };
});

const until = (condition: Effect.Effect<boolean>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("20 millis") });
