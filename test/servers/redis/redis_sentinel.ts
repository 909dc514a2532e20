import { Effect, Schedule } from "effect";
import { startRedis } from "./redis.ts";

const masterName = "accountlink";

/**
 * Starts a master, its replica, and sentinels that fail over within a few seconds. They are stopped when the scope
 * closes or this process ends.
 *
 * @param config more lines for every server
 */
export const startRedisSentinel = Effect.fnUntraced(function* ({
  sentinels: count = 1,
  config = [],
}: {
  readonly sentinels?: number;
  readonly config?: ReadonlyArray<string>;
} = {}) {
  const master = yield* startRedis({ config: ["repl-diskless-sync-delay 0", ...config] });
  const replica = yield* startRedis({ config: [`replicaof 127.0.0.1 ${master.port}`, ...config] });
  const holds = (info: string) =>
    replica.ask("INFO", "replication").pipe(
      Effect.map((text) => text.includes(info)),
      // The replica closes its connections when it is promoted, so this request may fail. `until` then sends it again.
      Effect.catchDefect(() => Effect.succeed(false)),
    );
  yield* until(holds("master_link_status:up"));
  const sentinel = startRedis({
    sentinel: true,
    config: [
      `sentinel monitor ${masterName} 127.0.0.1 ${master.port} ${Math.floor(count / 2) + 1}`,
      `sentinel down-after-milliseconds ${masterName} 300`,
      `sentinel failover-timeout ${masterName} 3000`,
      ...config,
    ],
  });
  const sentinels = yield* Effect.replicateEffect(sentinel, count, { concurrency: "unbounded" });
  for (const each of sentinels) {
    const knows = Effect.map(
      each.ask("SENTINEL", "MASTER", masterName),
      (text) =>
        text.includes("num-slaves\r\n$1\r\n1") && text.includes(`num-other-sentinels\r\n$1\r\n${count - 1}`),
    );
    yield* until(knows);
  }
  return {
    master,
    replica,
    sentinels,
    failover: until(holds("role:master")),
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${masterName}`,
  };
});

const until = (condition: Effect.Effect<boolean>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("20 millis") });
