import {
  AltReviewStore,
  newestReviewFirst,
  type ReviewedPair,
  reviewAsSeenBy,
  type SetAltReview,
} from "@accountlink/core/alts";
import { Effect, Layer } from "effect";
import { recordChange } from "../audit/record_change.ts";
import { requireScope } from "../keys/accounts.ts";
import { Database } from "../records/database.ts";
import { reviewId, reviews } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<AltReviewStore, never, Database> = Layer.effect(
  AltReviewStore,
  Effect.map(Database, (db) =>
    AltReviewStore.of({
      set: (write) => db.write("AltReviewStore.set", (tx) => setReview(tx, write)),
      remove: (write) => db.write("AltReviewStore.remove", (tx) => removeReview(tx, write)),
      findByChatId: (pid, chatId, limit) =>
        db.read("AltReviewStore.findByChatId", (tx) =>
          Effect.map(reviews.list(tx, "chat", [chatId, pid]), (found) =>
            found
              .map(({ review }) => reviewAsSeenBy(chatId, review))
              .toSorted(newestReviewFirst)
              .slice(0, limit ?? undefined),
          ),
        ),
    }),
  ),
);

const setReview = Effect.fnUntraced(function* (tx: Transaction, write: SetAltReview) {
  const { pid, chatId, otherChatId, verdict, note, at, keyId } = write;
  const scope = yield* requireScope(tx, pid);
  const details = { chatId, otherChatId, verdict };
  yield* recordChange(tx, { ...write, action: "review.set", of: scope, details });
  yield* reviews.put(tx, { pid, review: { chatId, otherChatId, verdict, note, at, keyId } });
});

const removeReview = Effect.fnUntraced(function* (tx: Transaction, write: ReviewedPair) {
  const { pid, chatId, otherChatId } = write;
  const found = yield* reviews.find(tx, ...reviewId(pid, write));
  if (found === undefined) return false;
  const scope = yield* requireScope(tx, pid);
  const details = { chatId, otherChatId };
  yield* recordChange(tx, { ...write, action: "review.deleted", of: scope, details });
  yield* reviews.discard(tx, found);
  return true;
});
