import { Effect, Latch } from "effect";
import { BulkConnection, type BulkOptions, startThread } from "./bulk_connection.ts";

/** How long to wait after a commit, since a checkpoint writes a page once that several transactions have changed. */
const pause = "100 millis";

/**
 * Copies committed pages from the write-ahead log into the database file, in a thread that starts with the first commit:
 * the copying and its syncs would delay every request of the process. Returns a function to call after each commit.
 */
export const makeCheckpoints = Effect.fnUntraced(function* (options: BulkOptions) {
  const committed = Latch.makeUnsafe();
  yield* Effect.gen(function* () {
    yield* committed.await;
    const worker = yield* startThread(options);
    // A process may exit without closing the database.
    worker.unref();
    const connection = new BulkConnection(worker, () => {});
    while (true) {
      yield* Effect.sleep(pause);
      committed.closeUnsafe();
      yield* Effect.ignore(connection.executeValues("PRAGMA wal_checkpoint(PASSIVE)", []));
      yield* committed.await;
    }
  }).pipe(Effect.forkScoped);
  return () => committed.openUnsafe();
});
