/** Counters in a cluster, where all keys of a script must share a slot. */

import type { StoreUnavailable } from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { hashTagOf } from "./hash_tag.ts";
import type { Outcome, Windows } from "./windows.ts";

type Rules = ReadonlyArray<CounterRule>;
type States = ReadonlyArray<CounterState>;

const inParallel = { concurrency: "unbounded" } as const;

/**
 * Counts a request in one slot after the other. If a slot refuses the request, refunds the counts in the other slots.
 */
export const admitInCluster = (
  windows: Windows,
  rules: Rules,
  now: Millis,
): Effect.Effect<Admission, StoreUnavailable> =>
  Effect.gen(function* () {
    const groups = groupBySlot(windows, rules);
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

export const readInCluster = (
  windows: Windows,
  rules: Rules,
  now: Millis,
): Effect.Effect<States, StoreUnavailable> => {
  const groups = groupBySlot(windows, rules);
  return Effect.map(
    Effect.forEach(groups, (group) => windows.read(group, now), inParallel),
    (states) => inOrder(rules, groups, states),
  );
};

const groupBySlot = (windows: Windows, rules: Rules): ReadonlyArray<Rules> => [
  ...groupBy(rules, (rule) => hashTagOf(windows.redisKeyOf(rule))).values(),
];

/** Merges the window states of all slots into one list, in the order of the rules. */
const inOrder = (rules: Rules, groups: ReadonlyArray<Rules>, states: ReadonlyArray<States>): States => {
  const byRule = new Map(
    groups.flatMap((group, i) => group.map((rule, k) => [rule, states[i]?.[k] as CounterState] as const)),
  );
  return rules.map((rule) => byRule.get(rule) as CounterState);
};
