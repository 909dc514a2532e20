/**
 * Counters that go on when the shared ones do not answer, and are given back what they forget.
 *
 * docs/consistency.md says under "Limits" how many requests may be admitted too many.
 */
import { Context, Effect, Layer, Metric, Result } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import { keepPresence } from "../internal/live_nodes.ts";
import { openSavedCounts, type SavedCounts } from "../internal/saved_counts.ts";
import type { Millis } from "../link.ts";
import type { CountLedger, LedgerWindow } from "../ports/count_ledger.ts";
import { type Admission, type CounterRule, type CounterState, Counters } from "../ports/counters.ts";

/** What counts when the shared counters do not. */
export interface ResilientCountersOptions {
  /**
   * Counts for this node alone while the shared counters do not answer, such as `CacheMemory.layer`. Left out, their
   * failure is the answer: for counters that cannot fail.
   */
  readonly local?: Layer.Layer<Counters>;
}

/**
 * Puts a ledger behind counters, and other counters beside them.
 *
 * - Counts of windows that have to outlast the counters are saved in the ledger every 5 seconds. Counters that may have
 *   forgotten some are given them back before they decide, so a restart does not reopen a day.
 * - While the shared counters fail, each request is decided here: a limit is then this node's share of it, the limit or
 *   what was left of the day divided by the number of live nodes, rounded up. What was admitted so is counted by the
 *   shared counters when they answer again.
 *
 * It fails to build when the node cannot be noted in the ledger.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/cache-memory";
 * import { StorageMemory } from "@accountlink/storage-memory";
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

/** 1 while this node decides on its own, else 0. */
export const countingAlone = Metric.gauge("accountlink_limits_alone", {
  description:
    "Whether this node decides on limits by its share, since the shared counters do not answer: 1 or 0",
});

/** How many windows the shared counters were found to have lost counts of, which they were given back. */
export const countsLost = Metric.counter("accountlink_limits_lost_total", {
  description: "Windows of which the shared counters had lost counts, and were given them back",
  incremental: true,
});

type Shape = Counters["Service"];
type Rules = ReadonlyArray<CounterRule>;
type Lasting = CounterRule & { readonly since: Millis };

const make = Effect.fnUntraced(function* ({ local }: ResilientCountersOptions) {
  const shared = yield* Counters;
  const saved = yield* openSavedCounts;
  const context = yield* Effect.context();
  countingAlone.updateUnsafe(0, context);
  // From the start, so that the first loss shows as a change.
  countsLost.updateUnsafe(0, context);

  const owed = new OwedCounts();
  const noteLost = (windows: number) => countsLost.updateUnsafe(windows, context);
  if (local === undefined) return makeTogether({ shared, saved, owed, noteLost, alone: null });

  const own = Context.get(yield* Layer.build(Layer.fresh(local)), Counters);
  const outage = new Outage();
  const alone = makeAlone(own, saved, owed, outage, yield* keepPresence);
  const together = makeTogether({ shared, saved, owed, noteLost, alone });
  const orAlone = <A>(answer: Effect.Effect<A, StoreUnavailable>, fallback: typeof answer) =>
    Effect.matchEffect(answer, {
      onSuccess: (value) => {
        if (outage.end()) countingAlone.updateUnsafe(0, context);
        return Effect.succeed(value);
      },
      onFailure: () => {
        if (outage.begin()) countingAlone.updateUnsafe(1, context);
        return fallback;
      },
    });
  return Counters.of({
    // With nothing to count nobody is asked, and nothing is learned of who answers.
    admit: (rules, now) =>
      rules.length === 0
        ? Effect.succeed({ admitted: true, states: [] })
        : orAlone(together.admit(rules, now), alone.admit(rules, now)),
    read: (rules, now) =>
      rules.length === 0 ? Effect.succeed([]) : orAlone(together.read(rules, now), alone.read(rules, now)),
  });
});

const isLasting = (rule: CounterRule): rule is Lasting => rule.since !== undefined;

const windowOf = ({ key, durationMs }: CounterRule, now: Millis): LedgerWindow => ({
  key,
  endsAt: now + durationMs,
});

/** What this node admitted without the shared counters, and has not told them yet. */
class OwedCounts {
  readonly #counts = new Map<string, { readonly endsAt: Millis; amount: number }>();

  add({ key, endsAt }: LedgerWindow, amount: number): void {
    if (amount === 0) return;
    const known = this.#counts.get(key);
    if (known?.endsAt === endsAt) known.amount += amount;
    else this.#counts.set(key, { endsAt, amount });
  }

  of({ key, endsAt }: LedgerWindow): number {
    const known = this.#counts.get(key);
    return known?.endsAt === endsAt ? known.amount : 0;
  }

  take(window: LedgerWindow): number {
    if (this.#counts.size === 0) return 0;
    const amount = this.of(window);
    this.#counts.delete(window.key);
    return amount;
  }
}

interface TogetherOptions {
  readonly shared: Shape;
  readonly saved: SavedCounts;
  readonly owed: OwedCounts;
  readonly noteLost: (windows: number) => void;
  /** Decides while counts are forgotten and the ledger cannot say how many. */
  readonly alone: Shape | null;
}

/** The shared counters, with the ledger behind them. */
const makeTogether = ({ shared, saved, owed, noteLost, alone }: TogetherOptions): Shape => {
  const withCheckpoints = (rules: Rules, now: Millis): Rules =>
    rules.map((rule) =>
      isLasting(rule)
        ? { ...rule, checkpoint: { since: rule.since, floor: null, owed: owed.take(windowOf(rule, now)) } }
        : rule,
    );

  /** The node still owes what was not counted for certain. Some may so be counted twice. */
  const returnOwed = (asked: Rules, now: Millis) =>
    Effect.sync(() => {
      for (const rule of asked) owed.add(windowOf(rule, now), rule.checkpoint?.owed ?? 0);
    });

  const note = (rules: Rules, admission: Admission, now: Millis): Admission => {
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as CounterRule;
      if (isLasting(rule)) saved.note(windowOf(rule, now), admission.states[i] as CounterState);
    }
    return admission;
  };

  const restoreAndAdmit = Effect.fnUntraced(function* (asked: Rules, first: Admission, now: Millis) {
    const windows = asked.filter(isLasting).map((rule) => windowOf(rule, now));
    const loaded = yield* Effect.result(saved.load(windows));
    if (Result.isFailure(loaded)) {
      if (alone === null) return yield* loaded.failure;
      yield* returnOwed(asked, now);
      return yield* alone.admit(asked, now);
    }
    let lost = 0;
    const restored = asked.map((rule, i) => {
      if (rule.checkpoint === undefined) return rule;
      const floor = loaded.success[windows.findIndex(({ key }) => key === rule.key)] ?? 0;
      if (first.forgotten?.includes(i) && floor > (first.states[i] as CounterState).count) lost++;
      return { ...rule, checkpoint: { ...rule.checkpoint, floor } };
    });
    if (lost > 0) noteLost(lost);
    return note(asked, yield* shared.admit(restored, now), now);
  });

  return {
    admit: (rules, now) =>
      Effect.suspend(() => {
        const asked = withCheckpoints(rules, now);
        return shared.admit(asked, now).pipe(
          Effect.flatMap((first) =>
            first.forgotten === undefined
              ? Effect.succeed(note(asked, first, now))
              : restoreAndAdmit(asked, first, now),
          ),
          Effect.tapError(() => returnOwed(asked, now)),
        );
      }),
    read: shared.read,
  };
};

/** A time in which the shared counters do not answer, and what was known when it began. */
class Outage {
  #isUnderWay = false;
  /** Tells the counts of one outage from those of the next. */
  number = 0;
  /** By key, how much of a lasting window was used when the outage began. */
  readonly used = new Map<string, { readonly endsAt: Millis; readonly count: number }>();

  /** Tells whether it begins just now. */
  begin(): boolean {
    const begins = !this.#isUnderWay;
    this.#isUnderWay = true;
    return begins;
  }

  /** Tells whether it ends just now. */
  end(): boolean {
    const ends = this.#isUnderWay;
    if (!ends) return false;
    this.#isUnderWay = false;
    this.number++;
    this.used.clear();
    return true;
  }
}

/** What is left is what is left of the share. */
const asOfWhole = (states: ReadonlyArray<CounterState>, rules: Rules, shares: Rules) =>
  states.map(({ count, resetsAt }, i) => {
    const left = Math.max(0, (shares[i] as CounterRule).limit - count);
    return { count: Math.max(0, (rules[i] as CounterRule).limit - left), resetsAt };
  });

/** This node's counters, with its share of every limit. */
const makeAlone = (
  own: Shape,
  saved: SavedCounts,
  owed: OwedCounts,
  outage: Outage,
  liveNodes: () => number,
): Shape => {
  /** Looks up what was used of the windows that this node did not count in during this outage. */
  const lookUpUsed = (rules: Rules, now: Millis): Effect.Effect<void> => {
    const unknown = rules
      .filter(isLasting)
      .map((rule) => windowOf(rule, now))
      .filter(({ key, endsAt }) => outage.used.get(key)?.endsAt !== endsAt);
    if (unknown.length === 0) return Effect.void;
    return saved.load(unknown).pipe(
      Effect.catch(() => Effect.succeed(unknown.map(saved.unsaved))),
      Effect.map((counts) => {
        for (const [i, window] of unknown.entries()) {
          // Another request may have looked it up meanwhile, and been counted since.
          if (outage.used.get(window.key)?.endsAt === window.endsAt) continue;
          const count = (counts[i] ?? 0) + owed.of(window);
          outage.used.set(window.key, { endsAt: window.endsAt, count });
        }
      }),
    );
  };

  const sharesOf = (rules: Rules): Rules =>
    rules.map((rule) => {
      if (!isLasting(rule)) return { ...rule, limit: Math.ceil(rule.limit / liveNodes()) };
      const used = outage.used.get(rule.key)?.count ?? 0;
      const limit = Math.ceil((rule.limit - used) / liveNodes());
      return { key: `${rule.key}#${outage.number}`, limit, durationMs: rule.durationMs };
    });

  return {
    admit: (rules, now) =>
      Effect.andThen(
        lookUpUsed(rules, now),
        Effect.suspend(() => {
          const shares = sharesOf(rules);
          return Effect.map(own.admit(shares, now), ({ admitted, states }): Admission => {
            if (admitted) for (const rule of rules) if (isLasting(rule)) owed.add(windowOf(rule, now), 1);
            return { admitted, states: asOfWhole(states, rules, shares) };
          });
        }),
      ),
    read: (rules, now) =>
      Effect.andThen(
        lookUpUsed(rules, now),
        Effect.suspend(() => {
          const shares = sharesOf(rules);
          return Effect.map(own.read(shares, now), (states) => asOfWhole(states, rules, shares));
        }),
      ),
  };
};
