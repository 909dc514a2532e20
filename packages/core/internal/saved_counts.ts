/** The counts of lasting windows, saved in the ledger in batches and looked up when the counters forgot them. */
import { Clock, Effect, Exit, Request, RequestResolver, type Scope } from "effect";
import { StoreUnavailable } from "../errors.ts";
import { CountLedger, type LedgerCount, type LedgerWindow } from "../ports/count_ledger.ts";
import { type CounterState, clockTolerance } from "../ports/counters.ts";
import { warnOnce } from "./warn_once.ts";

/** How often counts are saved, in milliseconds. What is lost with the counters is younger than this. */
export const saveEvery = 5_000;

/** How long a request waits for the ledger. */
const patience = "250 millis";

const windowsPerStatement = 1_000;

/** What a node saves of the lasting windows, and finds saved. */
export interface SavedCounts {
  /** Notes a count that the counters reported. */
  readonly note: (window: LedgerWindow, state: CounterState) => void;
  /** The highest count of each window that the ledger or this node knows. */
  readonly load: (
    windows: ReadonlyArray<LedgerWindow>,
  ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;
  /** The highest count that this node has yet to save. */
  readonly unsaved: (window: LedgerWindow) => number;
}

/** Saves every few seconds, and when the scope closes. */
export const openSavedCounts: Effect.Effect<SavedCounts, never, CountLedger | Scope.Scope> = Effect.gen(
  function* () {
    const ledger = yield* CountLedger;
    let unsaved = new Map<string, LedgerCount>();

    const noteCount = (window: LedgerWindow, counted: number) => {
      const known = unsaved.get(window.key);
      if (known?.endsAt === window.endsAt && known.counted >= counted) return;
      unsaved.set(window.key, { key: window.key, endsAt: window.endsAt, counted });
    };

    const save = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis;
      const counts = [...unsaved.values()];
      unsaved = new Map();
      for (let from = 0; from < counts.length; from += windowsPerStatement) {
        yield* ledger.saveCounts(counts.slice(from, from + windowsPerStatement), now).pipe(
          Effect.tapError(() =>
            Effect.sync(() => {
              for (const count of counts.slice(from)) noteCount(count, count.counted);
            }),
          ),
        );
      }
    });
    const saveOrWarn = yield* warnOnce("Limits are not saved", save);
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(saveOrWarn, "2 seconds")));
    yield* saveOrWarn.pipe(Effect.delay(saveEvery), Effect.forever, Effect.forkScoped);

    const lookUp = makeLookUp(ledger);
    const unsavedOf = ({ key, endsAt }: LedgerWindow): number => {
      const known = unsaved.get(key);
      return known?.endsAt === endsAt ? known.counted : 0;
    };
    return {
      // The counters may be a day ahead or behind.
      note: (window, { count, resetsAt }) => {
        if (Math.abs(resetsAt - window.endsAt) <= clockTolerance) noteCount(window, count);
      },
      load: (windows) =>
        Effect.map(lookUp(windows), (saved) =>
          windows.map((window, i) => Math.max(saved[i] ?? 0, unsavedOf(window))),
        ),
      unsaved: unsavedOf,
    };
  },
);

class LookUp extends Request.Class<{ readonly window: LedgerWindow }, number, StoreUnavailable> {}

/** Looks windows up together with those of other requests. */
const makeLookUp = (ledger: CountLedger["Service"]) => {
  const resolver = RequestResolver.make<LookUp>((entries) =>
    Effect.map(ledger.loadCounts(entries.map(({ request }) => request.window)), (counts) => {
      for (const [i, entry] of entries.entries()) entry.completeUnsafe(Exit.succeed(counts[i] ?? 0));
    }),
  ).pipe(RequestResolver.batchN(windowsPerStatement));

  return (windows: ReadonlyArray<LedgerWindow>): Effect.Effect<ReadonlyArray<number>, StoreUnavailable> =>
    Effect.forEach(windows, (window) => Effect.request(new LookUp({ window }), resolver), {
      concurrency: "unbounded",
    }).pipe(
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () => Effect.fail(new StoreUnavailable({ operation: "CountLedger.loadCounts" })),
      }),
    );
};
