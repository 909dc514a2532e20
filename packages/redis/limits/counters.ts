import { Counters } from "@accountlink/core";
import type { Admission } from "@accountlink/core/limits";
import { Effect, Layer } from "effect";
import { RedisConnections } from "../connection/connections.ts";
import { admitInCluster, readInCluster } from "./cluster_counters.ts";
import type { ScriptClock } from "./counter_scripts.ts";
import { Windows } from "./windows.ts";

/**
 * Counters that all nodes share. One script, and one round trip, decides all rules of a request, so concurrent
 * requests never exceed a limit.
 *
 * Windows end by the clock of Redis; the clocks of nodes have no influence. `resetsAt` is in the caller's time: its
 * `now` plus the remaining time of the window.
 *
 * In a cluster, the windows of one subject (`second:<key>`, `day:<key>`) share a slot, and each subject has its own
 * script. The scripts run in sequence; if one refuses, the counts of the earlier subjects are refunded. No limit is
 * ever exceeded, but until a count is refunded, another request can be refused because of it.
 *
 * A request that failed with `StoreUnavailable` may be counted. A Redis that evicts keys loses counts.
 */
export const layer: Layer.Layer<Counters, never, RedisConnections> = Layer.effect(
  Counters,
  Effect.suspend(() => makeCounters("redis")),
);

const nothingToCount: Admission = { admitted: true, states: [] };

/** Makes the counters on Redis. Tests choose the clock `caller`, since they pass their own times. */
export const makeCounters = Effect.fnUntraced(function* (clock: ScriptClock) {
  const { commands, prefix, isCluster } = yield* RedisConnections;
  const windows = new Windows(commands, prefix, clock);
  return Counters.of({
    admit: (rules, now) => {
      if (rules.length === 0) return Effect.succeed(nothingToCount);
      if (isCluster) return admitInCluster(windows, rules, now);
      return Effect.map(windows.admit(rules, now), ({ admission }) => admission);
    },
    read: (rules, now) => {
      if (rules.length === 0) return Effect.succeed([]);
      if (isCluster) return readInCluster(windows, rules, now);
      return windows.read(rules, now);
    },
  });
});
