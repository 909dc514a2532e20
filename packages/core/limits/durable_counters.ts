/**
 * Shared counters whose durable windows survive a loss of the counters' data. The counts of these windows are also
 * saved in the ledger, and lost counts are restored from the ledger.
 */
import { Clock, Effect, Exit, Request, RequestResolver, Result, type Scope } from "effect";
import { StoreUnavailable } from "../errors.ts";
import * as Immediate from "../immediate.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import type { Millis } from "../timestamp.ts";
import { CountLedger, type LedgerCount, type LedgerWindow } from "./count_ledger.ts";
import {
  type Admission,
  type CounterRule,
  type CounterState,
  type Counters,
  clockTolerance,
} from "./counters.ts";

type Rules = ReadonlyArray<CounterRule>;

export interface DurableCountersOptions {
  readonly shared: Counters["Service"];
  readonly ledger: LedgerSync;
  readonly unsynced: UnsyncedCounts;
  /** Called with the number of windows that lost counts. */
  readonly onLost: (windows: number) => void;
  /**
   * This node's shares of limits, by the key of their window. A share is deleted when the shared counters answer for
   * its window again.
   */
  readonly shares: { readonly delete: (key: string) => void };
  /**
   * Counters that decide on requests while counts are lost and the ledger does not answer. If null, such requests fail.
   */
  readonly fallback: Counters["Service"] | null;
}

export const makeDurableCounters = (options: DurableCountersOptions): Counters["Service"] => {
  const { shared, ledger, unsynced, onLost, shares, fallback } = options;

  const withCheckpoints = (rules: Rules, now: Millis): Rules =>
    rules.map((rule) =>
      isDurable(rule)
        ? {
            ...rule,
            checkpoint: { since: rule.since, floor: null, unsynced: unsynced.take(ledgerWindow(rule, now)) },
          }
        : rule,
    );

  /**
   * Keeps the unsynced requests, so that they are sent again. After a failure, it is unknown whether the shared
   * counters counted them, and counting them twice is safer than not at all.
   */
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
      shares.delete(rule.key);
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

type DurableRule = CounterRule & { readonly since: Millis };

/** Whether the count of a window must survive a loss of the counters. */
export const isDurable = (rule: CounterRule): rule is DurableRule => rule.since !== undefined;

export const ledgerWindow = ({ key, durationMs }: CounterRule, now: Millis): LedgerWindow => ({
  key,
  endsAt: now + durationMs,
});

/**
 * How often counts are saved, in milliseconds. If the shared counters lose their data, at most the counts since the
 * last save are lost.
 */
export const saveInterval = 5_000;

/** The time limit of a ledger read that a request waits for. */
const loadTimeout = "250 millis";

const maxBatchSize = 1_000;

export interface LedgerSync {
  /** Remembers a count that the shared counters reported. The next save writes it to the ledger. */
  readonly record: (window: LedgerWindow, state: CounterState) => void;
  /** Returns the highest known count of each window: the ledger's, or this node's unsaved count. */
  readonly load: (
    windows: ReadonlyArray<LedgerWindow>,
  ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;
  /** Returns this node's unsaved count of the window, or 0. */
  readonly unsaved: (window: LedgerWindow) => number;
}

/** Saves the recorded counts to the ledger every `saveInterval`, and once more when the scope closes. */
export const makeLedgerSync: Effect.Effect<LedgerSync, never, CountLedger | Scope.Scope> = Effect.gen(
  function* () {
    const ledger = yield* CountLedger;
    let unsavedCounts = new Map<string, LedgerCount>();

    const unsaved = ({ key, endsAt }: LedgerWindow): number => {
      const known = unsavedCounts.get(key);
      return known?.endsAt === endsAt ? known.counted : 0;
    };
    const raise = ({ key, endsAt }: LedgerWindow, counted: number) => {
      const known = unsavedCounts.get(key);
      if (known?.endsAt === endsAt && known.counted >= counted) return;
      unsavedCounts.set(key, { key, endsAt, counted });
    };

    const save = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis;
      const counts = [...unsavedCounts.values()];
      unsavedCounts = new Map();
      for (let from = 0; from < counts.length; from += maxBatchSize) {
        yield* ledger.saveCounts(counts.slice(from, from + maxBatchSize), now).pipe(
          Effect.onError(() =>
            Effect.sync(() => {
              for (const count of counts.slice(from)) raise(count, count.counted);
            }),
          ),
        );
      }
    });
    const saveOrWarn = yield* warnOnce("Cannot save the counts of limits", save);
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(saveOrWarn, "2 seconds")));
    yield* saveOrWarn.pipe(Effect.delay(saveInterval), Effect.forever, Effect.forkScoped);

    const loadSaved = makeBatchedLoad(ledger);
    return {
      unsaved,
      // Around midnight the shared counters may count in another day's window than this node. Such counts are ignored.
      record: (window, { count, resetsAt }) => {
        if (Math.abs(resetsAt - window.endsAt) <= clockTolerance) raise(window, count);
      },
      load: (windows) =>
        Effect.map(loadSaved(windows), (saved) =>
          windows.map((window, i) => Math.max(saved[i] ?? 0, unsaved(window))),
        ),
    };
  },
);

class LoadCount extends Request.Class<{ readonly window: LedgerWindow }, number, StoreUnavailable> {}

/** Loads the windows of concurrent requests in one batch. */
const makeBatchedLoad = (ledger: CountLedger["Service"]) => {
  const resolver = RequestResolver.make<LoadCount>((entries) =>
    Effect.map(ledger.loadCounts(entries.map(({ request }) => request.window)), (counts) => {
      for (const [i, entry] of entries.entries()) entry.completeUnsafe(Exit.succeed(counts[i] ?? 0));
    }),
  ).pipe(RequestResolver.batchN(maxBatchSize));

  return (windows: ReadonlyArray<LedgerWindow>): Effect.Effect<ReadonlyArray<number>, StoreUnavailable> =>
    Effect.forEach(windows, (window) => Effect.request(new LoadCount({ window }), resolver), {
      concurrency: "unbounded",
    }).pipe(
      Effect.timeoutOrElse({
        duration: loadTimeout,
        orElse: () => Effect.fail(new StoreUnavailable({ operation: "CountLedger.loadCounts" })),
      }),
    );
};

interface Unsynced {
  readonly endsAt: Millis;
  amount: number;
  /** How many requests were sent to the shared counters and are not yet confirmed by them. */
  sent: number;
}

/** Requests that this node admitted and that the shared counters do not know yet. */
export class UnsyncedCounts {
  readonly #counts = new Map<string, Unsynced>();

  add({ key, endsAt }: LedgerWindow, amount: number): void {
    const known = this.#counts.get(key);
    if (known?.endsAt === endsAt) known.amount += amount;
    else this.#counts.set(key, { endsAt, amount, sent: 0 });
  }

  of(window: LedgerWindow): number {
    const known = this.#find(window);
    return known === undefined ? 0 : known.amount + known.sent;
  }

  /** Returns the number of requests to send to the shared counters now, and records them as sent. */
  take(window: LedgerWindow): number {
    const known = this.#find(window);
    if (known === undefined) return 0;
    const { amount } = known;
    known.sent += amount;
    known.amount = 0;
    return amount;
  }

  /**
   * Records the result of sending an amount to the shared counters. If `isKnown` is true, they have counted the amount.
   * Otherwise, the amount is sent again later.
   */
  settle(window: LedgerWindow, amount: number, isKnown: boolean): void {
    const known = this.#find(window);
    if (known === undefined) return;
    known.sent -= amount;
    if (!isKnown) known.amount += amount;
    if (known.amount + known.sent === 0) this.#counts.delete(window.key);
  }

  #find({ key, endsAt }: LedgerWindow): Unsynced | undefined {
    if (this.#counts.size === 0) return undefined;
    const known = this.#counts.get(key);
    return known?.endsAt === endsAt ? known : undefined;
  }
}
