/**
 * Counters that keep deciding during an outage of the shared counters, and restore lost counts.
 *
 * The section "Limits" of docs/consistency.md lists how many requests may be admitted above a limit.
 */
import { Context, Effect, Layer, Metric } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { CountLedger } from "./count_ledger.ts";
import { Counters } from "./counters.ts";
import { makeDurableCounters, makeLedgerSync, UnsyncedCounts } from "./durable_counters.ts";
import { countLiveNodes } from "./live_nodes.ts";
import { makeNodeShare, Outage } from "./node_share.ts";

export interface ResilientCountersOptions {
  /**
   * Counters of this node alone, such as `CacheMemory.layer`, which decide while the shared counters do not answer. If
   * omitted, failures are passed to the caller. Omit this option if the shared counters cannot fail.
   */
  readonly local?: Layer.Layer<Counters>;
}

/**
 * Combines shared counters with a ledger and local counters.
 *
 * Counts of durable windows, such as a day, are saved in the ledger every 5 seconds. If the shared counters lose
 * counts, these are restored from the ledger before the next decision. So a used-up daily limit stays used up after a
 * restart of the shared counters.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import { StorageMemory } from "@accountlink/memory";
 * import { Layer } from "effect";
 *
 * const counters = ResilientCounters.layer({ local: CacheMemory.layer }).pipe(
 *   Layer.provide(CacheMemory.layer), // In place of counters that all nodes share.
 *   Layer.provide(StorageMemory.layer),
 * );
 * ```
 */
export const layer = (
  options: ResilientCountersOptions = {},
): Layer.Layer<Counters, StoreUnavailable, Counters | CountLedger> => Layer.effect(Counters, make(options));

/** @internal */
export const decidesAlone = Metric.gauge("accountlink_limits_alone", {
  description:
    "Whether this node decides on limits by its share, since the shared counters do not answer: 1 or 0",
});

/** @internal */
export const restoredWindows = Metric.counter("accountlink_limits_lost_total", {
  description: "Windows of which the shared counters lost counts, which were restored from the ledger",
  incremental: true,
});

const make = Effect.fnUntraced(function* ({ local }: ResilientCountersOptions) {
  const shared = yield* Counters;
  const ledger = yield* makeLedgerSync;
  // With this context, metrics are updated synchronously, without running an effect for each decision.
  const context = yield* Effect.context();
  decidesAlone.updateUnsafe(0, context);
  // Create the metric with the value 0 at the start, so that the first loss shows as a change.
  restoredWindows.updateUnsafe(0, context);

  const unsynced = new UnsyncedCounts();
  const onLost = (windows: number) => restoredWindows.updateUnsafe(windows, context);
  const outage = new Outage();
  const durableOptions = { shared, ledger, unsynced, onLost, shares: outage.shares };
  if (local === undefined) return makeDurableCounters({ ...durableOptions, fallback: null });

  const share = makeNodeShare({
    local: Context.get(yield* Layer.build(Layer.fresh(local)), Counters),
    ledger,
    unsynced,
    outage,
    liveNodes: yield* countLiveNodes,
  });
  const durable = makeDurableCounters({ ...durableOptions, fallback: share });
  const orElse = <A>(
    answer: Effect.Effect<A, StoreUnavailable>,
    fallback: () => Effect.Effect<A, StoreUnavailable>,
  ) =>
    Effect.matchEffect(answer, {
      onSuccess: (value) => {
        if (outage.end()) decidesAlone.updateUnsafe(0, context);
        return Effect.succeed(value);
      },
      onFailure: () => {
        if (outage.begin()) decidesAlone.updateUnsafe(1, context);
        return fallback();
      },
    });
  return Counters.of({
    // Without rules, the shared counters are not asked. So the result must neither begin nor end an outage.
    admit: (rules, now) =>
      rules.length === 0
        ? Effect.succeed({ admitted: true, states: [] })
        : orElse(durable.admit(rules, now), () => share.admit(rules, now)),
    read: (rules, now) =>
      rules.length === 0
        ? Effect.succeed([])
        : orElse(durable.read(rules, now), () => share.read(rules, now)),
  });
});
