import { Effect, Schedule } from "effect";
import { startRedis } from "./redis.ts";

const slots = 16_384;
const size = 3;

/**
 * Starts three masters that share the slots. They are stopped when the scope closes or this process ends.
 *
 * @param config more lines for every server
 */
export const startRedisCluster = Effect.fnUntraced(function* (config: ReadonlyArray<string> = []) {
  const nodes = yield* Effect.all(
    Array.from({ length: size }, () =>
      startRedis({
        config: [
          "cluster-enabled yes",
          "cluster-node-timeout 1000",
          "cluster-require-full-coverage no",
          ...config,
        ],
      }),
    ),
    { concurrency: "unbounded" },
  );
  for (const [index, node] of nodes.entries()) {
    yield* node.ask("CLUSTER", "SET-CONFIG-EPOCH", `${index + 1}`);
    yield* node.ask("CLUSTER", "ADDSLOTS", ...slotsOf(index));
    yield* node.ask("CLUSTER", "MEET", "127.0.0.1", `${nodes[0]?.port}`);
  }
  const isWhole = Effect.map(
    Effect.forEach(nodes, (node) => node.ask("CLUSTER", "INFO")),
    (infos) =>
      infos.every((info) => info.includes("cluster_state:ok") && info.includes(`cluster_slots_ok:${slots}`)),
  );
  yield* Effect.repeat(isWhole, { until: (whole) => whole, schedule: Schedule.spaced("20 millis") });
  return { nodes, url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}` };
});

/** Returns a node's range of slots. */
const slotsOf = (index: number): ReadonlyArray<string> =>
  Array.from({ length: slots }, (_, slot) => slot)
    .filter((slot) => Math.floor((slot * size) / slots) === index)
    .map(String);
