/** What a node tells the ledger, and learns from it. */
import { Clock, Effect, Exit, Request, RequestResolver, type Scope } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../link.ts";
import { CountLedger, type LedgerCount, type NodeCount } from "../ports/count_ledger.ts";
import { type DurableWindow, DurableWindows } from "./durable_windows.ts";
import { warnOnce } from "./warn_once.ts";

/** How often what changed is saved, in milliseconds. */
export const checkpointEvery = 1_000;

/** How long a node counts as alive after it was last noted, in milliseconds. */
export const presenceMs = 10_000;
const presenceEvery = "2 seconds";

/** How long a request waits for the ledger; without it, what the node knows by itself has to do. */
const patience = "250 millis";

const heldWindows = 100_000;
const windowsPerSave = 1_000;

/** The node's part in the ledger. */
export interface LedgerExchange {
  readonly windows: DurableWindows;
  /** Asks for these windows, together with whoever asks in the same turn. It never fails. */
  readonly read: (windows: ReadonlyArray<DurableWindow>) => Effect.Effect<void>;
  /** From now on the node counts as alive, until the scope closes. Gives how many nodes live, each time it is asked. */
  readonly keepPresence: Effect.Effect<() => number, StoreUnavailable, Scope.Scope>;
}

/** Saves what changed every second, and when the scope closes. */
export const openLedgerExchange: Effect.Effect<LedgerExchange, never, CountLedger | Scope.Scope> = Effect.gen(
  function* () {
    const ledger = yield* CountLedger;
    const nodeId = uuidV4Unsafe();
    const windows = new DurableWindows(heldWindows);

    const save = Effect.fnUntraced(function* (changed: ReadonlyArray<DurableWindow>) {
      const now = yield* Clock.currentTimeMillis;
      const counts = changed.map(({ key, endsAt, counted, own }) => ({ key, endsAt, counted, own }));
      yield* ledger.saveCounts(nodeId, counts, now);
      const totals = yield* ledger.loadCounts(nodeId, counts);
      for (const [i, window] of changed.entries()) {
        windows.noteRead(window, totals[i] as LedgerCount, now);
        window.askedAt = now;
        windows.noteSaved(window, counts[i] as NodeCount);
      }
    });
    const checkpoint = Effect.suspend(() => {
      const { changed } = windows;
      const parts = Array.from({ length: Math.ceil(changed.length / windowsPerSave) }, (_, i) =>
        changed.slice(i * windowsPerSave, (i + 1) * windowsPerSave),
      );
      return Effect.forEach(parts, save, { discard: true });
    });
    yield* everyNowAndThen(yield* warnOnce("Limits are not saved", checkpoint), checkpointEvery);

    return {
      windows,
      read: readerOf(ledger, nodeId, windows),
      keepPresence: keepPresence(ledger, nodeId),
    };
  },
);

/** Repeats until the scope closes, and then once more. */
const everyNowAndThen = (effect: Effect.Effect<void>, pauseMs: number) =>
  Effect.andThen(
    Effect.addFinalizer(() => Effect.ignore(Effect.timeout(effect, "2 seconds"))),
    effect.pipe(Effect.delay(pauseMs), Effect.forever, Effect.forkScoped),
  );

const keepPresence = (ledger: CountLedger["Service"], nodeId: string) =>
  Effect.gen(function* () {
    let nodes = 1;
    const note = (lifeMs: Millis) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis;
        nodes = Math.max(1, yield* ledger.renewNode(nodeId, now + lifeMs, now));
      });
    yield* note(presenceMs);
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(note(0), "2 seconds")));
    const renew = yield* warnOnce("Live nodes are not counted", note(presenceMs));
    yield* renew.pipe(Effect.delay(presenceEvery), Effect.forever, Effect.forkScoped);
    return () => nodes;
  });

class Lookup extends Request.Class<{ readonly window: DurableWindow }, LedgerCount, StoreUnavailable> {}

const readerOf = (ledger: CountLedger["Service"], nodeId: string, windows: DurableWindows) => {
  const resolver = RequestResolver.make<Lookup>((entries) => {
    const asked = [...new Set(entries.map(({ request }) => request.window))];
    return Effect.map(ledger.loadCounts(nodeId, asked), (counts) => {
      const found = new Map(asked.map((window, i) => [window, counts[i] as LedgerCount]));
      for (const entry of entries) {
        entry.completeUnsafe(Exit.succeed(found.get(entry.request.window) as LedgerCount));
      }
    });
  }).pipe(RequestResolver.batchN(windowsPerSave));

  return (stale: ReadonlyArray<DurableWindow>): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.forEach(
        stale,
        (window) =>
          Effect.map(Effect.request(new Lookup({ window }), resolver), (count) =>
            windows.noteRead(window, count, now),
          ),
        { concurrency: "unbounded", discard: true },
      ).pipe(
        Effect.timeout(patience),
        Effect.ignore,
        Effect.andThen(
          Effect.sync(() => {
            for (const window of stale) window.askedAt = now;
          }),
        ),
      ),
    );
};
