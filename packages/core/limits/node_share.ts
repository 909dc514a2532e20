import { Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";
import type { LedgerWindow } from "./count_ledger.ts";
import type { Admission, CounterRule, CounterState, Counters } from "./counters.ts";
import { isDurable, type LedgerSync, ledgerWindow, type UnsyncedCounts } from "./durable_counters.ts";

type Rules = ReadonlyArray<CounterRule>;

/**
 * This node's share of the limit of a durable window, such as a day. Without the shared counters, the node admits
 * requests up to its share.
 */
export interface ShareOfDay {
  readonly endsAt: Millis;
  /** How many requests had been counted against the limit when this share began. */
  readonly used: number;
  /**
   * The sequence number of this share on its node. The number is part of the key under which the requests of the share
   * are counted, so that every share counts from 0.
   */
  readonly number: number;
}

/** Tracks whether the shared counters are down, and which shares this node decides on while they are down. */
export class Outage {
  #isActive = false;
  /**
   * This node's shares, by the key of their window. A share ends with the outage, or earlier if the shared counters
   * decide on its window again.
   */
  readonly shares = new Map<string, ShareOfDay>();

  /** Begins an outage. Returns false if one has already begun. */
  begin(): boolean {
    const begins = !this.#isActive;
    this.#isActive = true;
    return begins;
  }

  /** Ends the outage and its shares. Returns false if there is no outage. */
  end(): boolean {
    if (!this.#isActive) return false;
    this.#isActive = false;
    this.shares.clear();
    return true;
  }
}

export interface NodeShareOptions {
  /** The counters of this node alone. */
  readonly local: Counters["Service"];
  readonly ledger: LedgerSync;
  readonly unsynced: UnsyncedCounts;
  readonly outage: Outage;
  readonly liveNodes: () => number;
}

export const makeNodeShare = (options: NodeShareOptions): Counters["Service"] => {
  const { local, ledger, unsynced, outage, liveNodes } = options;
  let begun = 0;

  const begin = (window: LedgerWindow, counted: number): ShareOfDay => {
    const { key, endsAt } = window;
    const share = { endsAt, used: counted + unsynced.of(window), number: begun++ };
    outage.shares.set(key, share);
    return share;
  };
  const isBegun = ({ key, endsAt }: LedgerWindow) => outage.shares.get(key)?.endsAt === endsAt;

  /** Begins a share for each durable window without one. The share starts from the window's count in the ledger. */
  const beginShares = (rules: Rules, now: Millis): Effect.Effect<void> => {
    const unknown = rules
      .filter(isDurable)
      .map((rule) => ledgerWindow(rule, now))
      .filter((window) => !isBegun(window));
    if (unknown.length === 0) return Effect.void;
    return ledger.load(unknown).pipe(
      Effect.catch(() => Effect.succeed(unknown.map(ledger.unsaved))),
      Effect.map((counts) => {
        for (const [i, window] of unknown.entries()) {
          // Keep a share that a concurrent request has begun in the meantime: the share may have counted requests
          // already.
          if (!isBegun(window)) begin(window, counts[i] ?? 0);
        }
      }),
    );
  };

  const sharesOf = (rules: Rules, now: Millis): Rules =>
    rules.map((rule) => {
      if (!isDurable(rule)) return { ...rule, limit: Math.ceil(rule.limit / liveNodes()) };
      const window = ledgerWindow(rule, now);
      // The share is missing if a concurrent request has ended it. Then begin another share.
      const { used, number } = outage.shares.get(rule.key) ?? begin(window, ledger.unsaved(window));
      const limit = Math.ceil((rule.limit - used) / liveNodes());
      return { key: `${rule.key}#${number}`, limit, durationMs: rule.durationMs };
    });

  const onShares = <A>(
    rules: Rules,
    now: Millis,
    decide: (shares: Rules) => Effect.Effect<A, StoreUnavailable>,
  ) => Effect.flatMap(beginShares(rules, now), () => decide(sharesOf(rules, now)));

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

/** Converts the states of shares to states of the whole limits, with as many requests left as the share has left. */
const scaledUp = (states: ReadonlyArray<CounterState>, rules: Rules, shares: Rules) =>
  states.map(({ count, resetsAt }, i) => {
    const left = Math.max(0, (shares[i] as CounterRule).limit - count);
    return { count: Math.max(0, (rules[i] as CounterRule).limit - left), resetsAt };
  });
