/** Saves the counts of durable windows in the ledger, which restores counts that the counters lost. */
import { Clock, Effect, Exit, Request, RequestResolver, type Scope } from "effect";
import { StoreUnavailable } from "../errors.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import type { Millis } from "../timestamp.ts";
import { CountLedger, type LedgerCount, type LedgerWindow } from "./count_ledger.ts";
import { type CounterRule, type CounterState, clockTolerance } from "./counters.ts";

type DurableRule = CounterRule & { readonly since: Millis };

/** Whether the count of a window must survive a loss of the counters. */
export const isDurable = (rule: CounterRule): rule is DurableRule => rule.since !== undefined;

export const ledgerWindow = ({ key, durationMs }: CounterRule, now: Millis): LedgerWindow => ({
  key,
  endsAt: now + durationMs,
});

/** How often counts are saved, in milliseconds. A loss of the counters also loses the counts since the last save. */
export const saveInterval = 5_000;

/** The time limit of a ledger read that a request waits for. */
const loadTimeout = "250 millis";

const maxBatchSize = 1_000;

export interface LedgerSync {
  /** Records a reported count for the next save. */
  readonly record: (window: LedgerWindow, state: CounterState) => void;
  /** Returns the highest known count of each window: the ledger's, or this node's unsaved count. */
  readonly load: (
    windows: ReadonlyArray<LedgerWindow>,
  ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;
  /** Returns this node's unsaved count of the window, or 0. */
  readonly unsaved: (window: LedgerWindow) => number;
}

/** Saves every `saveInterval`, and once more when the scope closes. */
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
          Effect.tapError(() =>
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
      // Around midnight the counters may still be in the window of the day before, or already in the next.
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
  /** Counts sent to the shared counters without an answer so far. */
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

  /** Returns the amount to send now. */
  take(window: LedgerWindow): number {
    const known = this.#find(window);
    if (known === undefined) return 0;
    const { amount } = known;
    known.sent += amount;
    known.amount = 0;
    return amount;
  }

  /** Settles a sent amount; `isKnown` says whether the shared counters have it now. */
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
