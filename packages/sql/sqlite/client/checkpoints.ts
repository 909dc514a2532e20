import { Effect, Latch, RcRef } from "effect";
import { BulkConnection, type BulkOptions, startThread } from "./bulk_connection.ts";

/** How long to wait after a commit, since a checkpoint writes a page once that several transactions have changed. */
const pause = "100 millis";

/**
 * Copies committed pages from the write-ahead log into the database file, in a thread: the copying and its syncs would
 * delay every request of the process. Returns a function to call after each commit.
 */
export const makeCheckpoints = Effect.fnUntraced(function* (options: BulkOptions) {
  const threads = yield* RcRef.make({ acquire: startThread(options), idleTimeToLive: "1 minute" });
  const committed = Latch.makeUnsafe();
  const checkpoint = Effect.flatMap(RcRef.get(threads), (worker) =>
    new BulkConnection(worker, () => {}).executeValues("PRAGMA wal_checkpoint(PASSIVE)", []),
  );
  yield* committed.await.pipe(
    Effect.andThen(Effect.sleep(pause)),
    Effect.andThen(committed.close),
    Effect.andThen(Effect.scoped(checkpoint)),
    Effect.ignore,
    Effect.forever,
    Effect.forkScoped,
  );
  return () => committed.openUnsafe();
});
