/** Counters for an outage: this node alone decides, by its share of each limit. */
import { Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";
import type { Admission, CounterRule, CounterState, Counters } from "./counters.ts";
import { isDurable, type LedgerSync, ledgerWindow, type UnsyncedCounts } from "./ledger_sync.ts";

type Rules = ReadonlyArray<CounterRule>;

/** Whether the shared counters answer, and what was known when an outage began. */
export class Outage {
  #isActive = false;
  /** Separates the counts of one outage from those of the next. */
  number = 0;
  /** By key, how much of a durable window was used when the outage began. */
  readonly used = new Map<string, { readonly endsAt: Millis; readonly count: number }>();

  /** Returns whether this begins the outage. */
  begin(): boolean {
    const begins = !this.#isActive;
    this.#isActive = true;
    return begins;
  }

  /** Returns whether this ends the outage. */
  end(): boolean {
    if (!this.#isActive) return false;
    this.#isActive = false;
    this.number++;
    this.used.clear();
    return true;
  }
}

export interface NodeShareOptions {
  /** Counts for this node alone. */
  readonly local: Counters["Service"];
  readonly ledger: LedgerSync;
  readonly unsynced: UnsyncedCounts;
  readonly outage: Outage;
  readonly liveNodes: () => number;
}

export const makeNodeShare = (options: NodeShareOptions): Counters["Service"] => {
  const { local, ledger, unsynced, outage, liveNodes } = options;

  /** Loads what was used of the durable windows that this outage has not met yet. */
  const loadUsed = (rules: Rules, now: Millis): Effect.Effect<void> => {
    const unknown = rules
      .filter(isDurable)
      .map((rule) => ledgerWindow(rule, now))
      .filter(({ key, endsAt }) => outage.used.get(key)?.endsAt !== endsAt);
    if (unknown.length === 0) return Effect.void;
    return ledger.load(unknown).pipe(
      Effect.catch(() => Effect.succeed(unknown.map(ledger.unsaved))),
      Effect.map((counts) => {
        for (const [i, window] of unknown.entries()) {
          // A concurrent request may have loaded it and been counted since.
          if (outage.used.get(window.key)?.endsAt === window.endsAt) continue;
          const count = (counts[i] ?? 0) + unsynced.of(window);
          outage.used.set(window.key, { endsAt: window.endsAt, count });
        }
      }),
    );
  };

  const sharesOf = (rules: Rules): Rules =>
    rules.map((rule) => {
      if (!isDurable(rule)) return { ...rule, limit: Math.ceil(rule.limit / liveNodes()) };
      const used = outage.used.get(rule.key)?.count ?? 0;
      const limit = Math.ceil((rule.limit - used) / liveNodes());
      return { key: `${rule.key}#${outage.number}`, limit, durationMs: rule.durationMs };
    });

  const onShares = <A>(
    rules: Rules,
    now: Millis,
    decide: (shares: Rules) => Effect.Effect<A, StoreUnavailable>,
  ) => Effect.flatMap(loadUsed(rules, now), () => decide(sharesOf(rules)));

  return {
    admit: (rules, now) =>
      onShares(rules, now, (shares) =>
        Effect.map(local.admit(shares, now), ({ admitted, states }): Admission => {
          if (admitted) for (const rule of rules.filter(isDurable)) unsynced.add(ledgerWindow(rule, now), 1);
          return { admitted, states: scaledUp(states, rules, shares) };
        }),
      ),
    read: (rules, now) =>
      onShares(rules, now, (shares) =>
        Effect.map(local.read(shares, now), (states) => scaledUp(states, rules, shares)),
      ),
  };
};

/** States that report what is left of the share as what is left of the limit. */
const scaledUp = (states: ReadonlyArray<CounterState>, rules: Rules, shares: Rules) =>
  states.map(({ count, resetsAt }, i) => {
    const left = Math.max(0, (shares[i] as CounterRule).limit - count);
    return { count: Math.max(0, (rules[i] as CounterRule).limit - left), resetsAt };
  });
