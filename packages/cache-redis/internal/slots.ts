/** Counting in a cluster, where one script reaches the keys of one slot. */
import type { Admission, CounterRule, CounterState, Millis, StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import { hashTagOf } from "./hash_tag.ts";
import type { Outcome, Windows } from "./windows.ts";

type Rules = ReadonlyArray<CounterRule>;
type States = ReadonlyArray<CounterState>;

const inParallel = { concurrency: "unbounded" } as const;

/** Counts in one slot after the other, and takes all of it back when one refuses. */
export const admitBySlot = (
  windows: Windows,
  rules: Rules,
  now: Millis,
): Effect.Effect<Admission, StoreUnavailable> =>
  Effect.gen(function* () {
    const groups = groupBySlot(windows, rules);
    const counted: Array<Outcome> = [];
    const takeBack = (index: number) =>
      windows.refund(groups[index] as Rules, counted[index] as Outcome, now);

    for (const [index, group] of groups.entries()) {
      const outcome = yield* windows.admit(group, now).pipe(
        // This slot cannot be reached; what the others counted is taken back as far as they can be.
        Effect.tapError(() => Effect.forEach(counted, (_, i) => Effect.ignore(takeBack(i)), inParallel)),
      );
      if (!outcome.admission.admitted) {
        const states = yield* Effect.forEach(
          groups,
          (other, i) => {
            if (i === index) return Effect.succeed(outcome.admission.states);
            return i < index ? takeBack(i) : windows.read(other, now);
          },
          inParallel,
        );
        const refusal = { admitted: false, states: inOrder(rules, groups, states) };
        const { forgotten } = outcome.admission;
        if (forgotten === undefined) return refusal;
        return { ...refusal, forgotten: forgotten.map((i) => rules.indexOf(group[i] as CounterRule)) };
      }
      counted.push(outcome);
    }
    const states = counted.map(({ admission }) => admission.states);
    return { admitted: true, states: inOrder(rules, groups, states) };
    // Whoever asked may go away at any time; what was counted must not stay half done.
  }).pipe(Effect.uninterruptible);

export const readBySlot = (
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
  ...Map.groupBy(rules, (rule) => hashTagOf(windows.nameOf(rule))).values(),
];

/** The states of the groups, in the order of the rules. */
const inOrder = (rules: Rules, groups: ReadonlyArray<Rules>, states: ReadonlyArray<States>): States => {
  const byRule = new Map(
    groups.flatMap((group, i) => group.map((rule, k) => [rule, states[i]?.[k] as CounterState] as const)),
  );
  return rules.map((rule) => byRule.get(rule) as CounterState);
};
