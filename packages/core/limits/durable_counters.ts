/** Shared counters whose durable windows survive a loss: the ledger restores them. */
import { Effect, Exit, Result } from "effect";
import * as Immediate from "../immediate.ts";
import type { Millis } from "../timestamp.ts";
import type { Admission, CounterRule, CounterState, Counters } from "./counters.ts";
import { isDurable, type LedgerSync, ledgerWindow, type UnsyncedCounts } from "./ledger_sync.ts";
import type { Outage } from "./node_share.ts";

type Rules = ReadonlyArray<CounterRule>;

export interface DurableCountersOptions {
  readonly shared: Counters["Service"];
  readonly ledger: LedgerSync;
  readonly unsynced: UnsyncedCounts;
  /** Called with the number of windows that lost counts. */
  readonly onLost: (windows: number) => void;
  readonly outage: Outage;
  /** Decides while counts are lost and the ledger does not answer; null to fail instead. */
  readonly fallback: Counters["Service"] | null;
}

export const makeDurableCounters = (options: DurableCountersOptions): Counters["Service"] => {
  const { shared, ledger, unsynced, onLost, outage, fallback } = options;

  const withCheckpoints = (rules: Rules, now: Millis): Rules =>
    rules.map((rule) =>
      isDurable(rule)
        ? {
            ...rule,
            checkpoint: { since: rule.since, floor: null, unsynced: unsynced.take(ledgerWindow(rule, now)) },
          }
        : rule,
    );

  /** After a failure, the counters may or may not have counted. Counting twice is the safe choice. */
  const returnUnsynced = (asked: Rules, now: Millis) => Effect.sync(() => settle(asked, now, false));

  const settle = (asked: Rules, now: Millis, isKnown: boolean): void => {
    for (const rule of asked) {
      const sent = rule.checkpoint?.unsynced ?? 0;
      if (sent > 0) unsynced.settle(ledgerWindow(rule, now), sent, isKnown);
    }
  };

  const record = (rules: Rules, admission: Admission, now: Millis): Admission => {
    settle(rules, now, true);
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as CounterRule;
      if (!isDurable(rule)) continue;
      ledger.record(ledgerWindow(rule, now), admission.states[i] as CounterState);
      outage.shares.delete(rule.key);
    }
    return admission;
  };

  const restoreAndAdmit = Effect.fnUntraced(function* (asked: Rules, first: Admission, now: Millis) {
    const windows = asked.filter(isDurable).map((rule) => ledgerWindow(rule, now));
    const loaded = yield* Effect.result(ledger.load(windows));
    if (Result.isFailure(loaded)) {
      if (fallback === null) return yield* loaded.failure;
      yield* returnUnsynced(asked, now);
      return yield* fallback.admit(asked, now);
    }
    let lost = 0;
    const restored = asked.map((rule, i) => {
      if (rule.checkpoint === undefined) return rule;
      const floor = loaded.success[windows.findIndex(({ key }) => key === rule.key)] ?? 0;
      if (first.forgotten?.includes(i) && floor > (first.states[i] as CounterState).count) lost++;
      return { ...rule, checkpoint: { ...rule.checkpoint, floor } };
    });
    if (lost > 0) onLost(lost);
    return record(asked, yield* shared.admit(restored, now), now);
  });

  return {
    admit: (rules, now) =>
      Immediate.withFiber(() => {
        const asked = withCheckpoints(rules, now);
        return Immediate.matchCauseEffect(shared.admit(asked, now), {
          onSuccess: (first) =>
            first.forgotten === undefined
              ? Exit.succeed(record(asked, first, now))
              : Effect.tapError(restoreAndAdmit(asked, first, now), () => returnUnsynced(asked, now)),
          onFailure: (cause) => Effect.tapError(Exit.failCause(cause), () => returnUnsynced(asked, now)),
        });
      }),
    read: shared.read,
  };
};
