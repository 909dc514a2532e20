/**
 * Counters that go on when the shared ones do not answer, and remember what those forget.
 *
 * What may be let through too many, and why not more, is said in docs/consistency.md under "Limits".
 */
import { Context, Effect, Layer, Metric } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import { clockTolerance, type DurableWindow } from "../internal/durable_windows.ts";
import { checkpointEvery, type LedgerExchange, openLedgerExchange } from "../internal/ledger_exchange.ts";
import type { Millis } from "../link.ts";
import type { CountLedger } from "../ports/count_ledger.ts";
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
 * - What is counted in durable windows is saved in the ledger every second. Counters that have lost it are raised to it
 *   before they decide, so a restart does not reopen a day.
 * - While the shared counters fail, each request is decided here: a limit is then this node's share of it, the limit or
 *   what is left of the day by the number of live nodes, rounded up. Nothing is awaited but the ledger, once a second
 *   for each window.
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

/** How often the shared counters were found to have lost counts, which they were given back. */
export const countsLost = Metric.counter("accountlink_limits_lost_total", {
  description: "How often the shared counters were found to have lost day counts",
  incremental: true,
});

type Shape = Counters["Service"];
type Rules = ReadonlyArray<CounterRule>;
/** What is known of the window of each rule; null where it is not durable. */
type Known = ReadonlyArray<DurableWindow | null>;

const make = Effect.fnUntraced(function* ({ local }: ResilientCountersOptions) {
  const shared = yield* Counters;
  const exchange = yield* openLedgerExchange;
  const trust = new Trust(yield* Effect.context());
  const together = overShared(shared, exchange, trust);
  if (local === undefined) return together;

  const own = Context.get(yield* Layer.build(Layer.fresh(local)), Counters);
  const alone = overOwn(own, exchange, trust, yield* exchange.keepPresence);
  const orAlone = <A>(answer: Effect.Effect<A, StoreUnavailable>, now: Millis, fallback: typeof answer) =>
    Effect.matchEffect(answer, {
      onSuccess: (value) => {
        trust.noteAlone(false, now);
        return Effect.succeed(value);
      },
      onFailure: () => {
        trust.noteAlone(true, now);
        return fallback;
      },
    });
  return Counters.of({
    // Where there is nothing to count, nobody is asked, and nothing is learned of who answers.
    admit: (rules, now) =>
      rules.length === 0
        ? Effect.succeed({ admitted: true, states: [] })
        : orAlone(together.admit(rules, now), now, alone.admit(rules, now)),
    read: (rules, now) =>
      rules.length === 0
        ? Effect.succeed([])
        : orAlone(together.read(rules, now), now, alone.read(rules, now)),
  });
});

/** How far the shared counters are trusted to hold what they were told. */
class Trust {
  readonly #context: Context.Context<never>;
  #isAlone = false;
  /** What was read from the ledger by then is read again before it is relied on. */
  #doubtedAt = 0;

  constructor(context: Context.Context<never>) {
    this.#context = context;
    countingAlone.updateUnsafe(0, context);
    // From the start, so that the first loss is seen to be a change.
    countsLost.updateUnsafe(0, context);
  }

  /** Notes whether the shared counters answer. Whenever that changes they may have lost something. */
  noteAlone(isAlone: boolean, now: Millis): void {
    if (isAlone === this.#isAlone) return;
    this.#isAlone = isAlone;
    this.#doubtedAt = now;
    countingAlone.updateUnsafe(isAlone ? 1 : 0, this.#context);
  }

  /** Notes that the shared counters have lost something. */
  noteLost(now: Millis): void {
    this.#doubtedAt = now;
    countsLost.updateUnsafe(1, this.#context);
  }

  /** Whether the ledger may know more of the window than this node does. */
  isStale({ askedAt, readAt }: DurableWindow, now: Millis): boolean {
    return askedAt + checkpointEvery <= now && (this.#isAlone || readAt <= this.#doubtedAt);
  }
}

/** Runs the decision when everything is known that the ledger can tell. */
const withKnown = <A>(
  { windows, read }: LedgerExchange,
  trust: Trust,
  rules: Rules,
  now: Millis,
  decide: (known: Known) => Effect.Effect<A, StoreUnavailable>,
): Effect.Effect<A, StoreUnavailable> =>
  Effect.suspend(() => {
    const known = rules.map((rule) => (rule.durable ? windows.at(rule, now) : null));
    if (!known.some((window) => window !== null && trust.isStale(window, now))) return decide(known);
    const stale = known.filter((window) => window !== null && trust.isStale(window, now));
    return Effect.andThen(
      read(stale as ReadonlyArray<DurableWindow>),
      Effect.suspend(() => decide(known)),
    );
  });

/** With the limit less what the shared counters do not know of, and a floor of what they should. */
const toShared = (rules: Rules, known: Known): Rules =>
  rules.map((rule, i) => {
    const window = known[i] ?? null;
    if (window === null) return rule;
    const { key, limit, durationMs } = rule;
    return { key, limit: limit - window.own - window.others, durationMs, floor: window.counted };
  });

/** The shared counters, with what the node and the ledger know. */
const overShared = (shared: Shape, exchange: LedgerExchange, trust: Trust): Shape => {
  const fromShared = (states: ReadonlyArray<CounterState>, known: Known): ReadonlyArray<CounterState> =>
    states.map((state, i) => {
      const window = known[i] ?? null;
      if (window === null) return state;
      exchange.windows.noteCounted(window, state);
      return { count: state.count + window.own + window.others, resetsAt: state.resetsAt };
    });
  const answer = ({ admitted, states }: Admission, known: Known): Admission => ({
    admitted,
    states: fromShared(states, known),
  });

  /** The counters were given back what this node knew. Where the ledger knew more, they decide again. */
  const askAgain = (rules: Rules, known: Known, first: Admission, now: Millis) => {
    const short = [...known.keys()].filter((i) => {
      const window = known[i] ?? null;
      // The count has this request in it, what is known has not.
      return window !== null && (first.states[i] as CounterState).count <= window.counted;
    });
    if (!first.admitted || short.length === 0) return Effect.succeed(answer(first, known));
    const [shortRules, shortKnown] = [
      short.map((i) => rules[i] as CounterRule),
      short.map((i) => known[i] ?? null),
    ];
    return Effect.map(shared.admit(toShared(shortRules, shortKnown), now), ({ admitted, states }) =>
      answer({ admitted, states: first.states.map((state, i) => states[short.indexOf(i)] ?? state) }, known),
    );
  };

  return {
    admit: (rules, now) =>
      withKnown(exchange, trust, rules, now, (known) =>
        Effect.flatMap(shared.admit(toShared(rules, known), now), (first) => {
          if (!first.raised || !rules.some(mayHaveLost)) return Effect.succeed(answer(first, known));
          trust.noteLost(now);
          return withKnown(exchange, trust, rules, now, () => askAgain(rules, known, first, now));
        }),
      ),
    read: (rules, now) =>
      withKnown(exchange, trust, rules, now, (known) =>
        Effect.map(shared.read(rules, now), (states) => fromShared(states, known)),
      ),
  };
};

/** A durable window that the clocks of all nodes tell from the next. */
const mayHaveLost = ({ durable, durationMs }: CounterRule): boolean =>
  durable === true && durationMs > clockTolerance;

/** What is left is what is left of the share. */
const fromOwn = (states: ReadonlyArray<CounterState>, rules: Rules, shares: Rules) =>
  states.map(({ count, resetsAt }, i) => {
    const left = Math.max(0, (shares[i] as CounterRule).limit - count);
    return { count: (rules[i] as CounterRule).limit - left, resetsAt };
  });

/** This node's counters, with its share of every limit. */
const overOwn = (own: Shape, exchange: LedgerExchange, trust: Trust, nodes: () => number): Shape => {
  const toOwn = (rules: Rules, known: Known): Rules =>
    rules.map((rule, i) => ({ ...rule, limit: shareOf(rule.limit, known[i] ?? null, nodes()) }));
  const noteOwn = (states: ReadonlyArray<CounterState>, known: Known) => {
    for (const [i, window] of known.entries()) {
      if (window !== null) exchange.windows.noteOwn(window, (states[i] as CounterState).count);
    }
  };

  return {
    admit: (rules, now) =>
      withKnown(exchange, trust, rules, now, (known) => {
        const shares = toOwn(rules, known);
        return Effect.map(own.admit(shares, now), ({ admitted, states }): Admission => {
          if (admitted) noteOwn(states, known);
          return { admitted, states: fromOwn(states, rules, shares) };
        });
      }),
    read: (rules, now) =>
      withKnown(exchange, trust, rules, now, (known) => {
        const shares = toOwn(rules, known);
        return Effect.map(own.read(shares, now), (states) => fromOwn(states, rules, shares));
      }),
  };
};

/**
 * How many a node may admit on its own in a window. Of a day it is a share of what is left by the ledger, in which all
 * nodes find what the others have admitted; what a node adds to its own counts before it has told the ledger so is at
 * most one share.
 */
const shareOf = (limit: number, window: DurableWindow | null, nodes: number): number => {
  if (window === null) return Math.ceil(limit / nodes);
  const { counted, others, ownSaved } = window;
  return ownSaved + Math.ceil((limit - counted - others - ownSaved) / nodes);
};
