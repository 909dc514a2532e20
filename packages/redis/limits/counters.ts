import { Counters, type StoreUnavailable } from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer } from "effect";
import { RedisConnections } from "../connection/connections.ts";
import type { ScriptClock } from "./counter_scripts.ts";
import { type Outcome, subjectOf, Windows } from "./windows.ts";

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

type Rules = ReadonlyArray<CounterRule>;
type States = ReadonlyArray<CounterState>;

const inParallel = { concurrency: "unbounded" } as const;

/**
 * Counts a request in one slot after the other. If a slot refuses the request, refunds the counts in the other slots.
 */
const admitInCluster = (
  windows: Windows,
  rules: Rules,
  now: Millis,
): Effect.Effect<Admission, StoreUnavailable> =>
  Effect.gen(function* () {
    const groups = groupBySlot(rules);
    const counted: Array<Outcome> = [];
    const refund = (index: number) => windows.refund(groups[index] as Rules, counted[index] as Outcome, now);

    for (const [index, group] of groups.entries()) {
      const outcome = yield* windows.admit(group, now).pipe(
        // This slot is unreachable, so refund the counts in the earlier slots, as far as they are reachable.
        Effect.tapError(() => Effect.forEach(counted, (_, i) => Effect.ignore(refund(i)), inParallel)),
      );
      if (!outcome.admission.admitted) {
        const states = yield* Effect.forEach(
          groups,
          (other, i) => {
            if (i === index) return Effect.succeed(outcome.admission.states);
            return i < index ? refund(i) : windows.read(other, now);
          },
          inParallel,
        );
        return { admitted: false, states: inOrder(rules, groups, states) };
      }
      counted.push(outcome);
    }
    const states = counted.map(({ admission }) => admission.states);
    return { admitted: true, states: inOrder(rules, groups, states) };
    // An interrupted caller must not leave counts that are not refunded.
  }).pipe(Effect.uninterruptible);

const readInCluster = (
  windows: Windows,
  rules: Rules,
  now: Millis,
): Effect.Effect<States, StoreUnavailable> => {
  const groups = groupBySlot(rules);
  return Effect.map(
    Effect.forEach(groups, (group) => windows.read(group, now), inParallel),
    (states) => inOrder(rules, groups, states),
  );
};

const groupBySlot = (rules: Rules): ReadonlyArray<Rules> => [
  ...groupBy(rules, ({ key }) => subjectOf(key)).values(),
];

/** Merges the window states of all slots into one list, in the order of the rules. */
const inOrder = (rules: Rules, groups: ReadonlyArray<Rules>, states: ReadonlyArray<States>): States => {
  const byRule = new Map(
    groups.flatMap((group, i) => group.map((rule, k) => [rule, states[i]?.[k] as CounterState] as const)),
  );
  return rules.map((rule) => byRule.get(rule) as CounterState);
};
