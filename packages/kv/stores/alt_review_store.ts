import type { ChatId, Pid } from "@accountlink/core";
import {
  type AltReview,
  AltReviewStore,
  keptReview,
  type ReviewedPair,
  removedReview,
  type SetAltReview,
} from "@accountlink/core/alts";
import type { Keyed } from "@accountlink/core/idempotency";
import { logged } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Order } from "effect";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { keyedWrite } from "./idempotency_store.ts";
import { record } from "./journal.ts";
import { isCurrent, type OfEpoch, scopeAt } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

export interface StoredReview extends OfEpoch {
  readonly review: AltReview;
}

const usersOf = ({ review }: StoredReview) => [review.chatId, review.otherChatId];

/** A pair has one review, whoever of the two is named first. */
export const reviews = table<StoredReview>()(
  "review",
  (stored) => [stored.pid, ...usersOf(stored).toSorted()],
  {
    byUser: {
      keys: (stored) => usersOf(stored).map((id) => [id, stored.pid, ...usersOf(stored).toSorted()]),
      group: 1,
    },
    byScope: { keys: (stored) => [[stored.pid, stored.epoch, ...usersOf(stored).toSorted()]] },
  },
);

export const layer = storeLayer(AltReviewStore, (db) => ({
  set: keyedWrite<void, SetAltReview & Keyed>(
    db,
    keptReview,
    ({ pid }) => pid,
    function* (tx, write) {
      const { pid, chatId, otherChatId, verdict, note, at, keyId } = write;
      assertStorable([note ?? ""]);
      yield* record(tx, pid, logged(write, "review.set", { chatId, otherChatId, verdict }));
      const { epoch } = yield* scopeAt(tx, pid);
      const review = { chatId, otherChatId, verdict, note, at, keyId };
      yield* tx.put(reviews, { pid, epoch, review });
    },
  ),

  remove: keyedWrite<boolean, ReviewedPair & Keyed>(
    db,
    removedReview,
    ({ pid }) => pid,
    function* (tx, write) {
      const { pid, chatId, otherChatId } = write;
      const id = [pid, ...[chatId, otherChatId].toSorted()];
      const found = yield* tx.get(reviews, ...id);
      if (found === undefined || found.epoch !== (yield* scopeAt(tx, pid)).epoch) return false;
      yield* record(tx, pid, logged(write, "review.deleted", { chatId, otherChatId }));
      yield* tx.remove(reviews, ...id);
      return true;
    },
  ),

  findByChatId: (pid, chatId, limit) =>
    db.read(function* (tx) {
      return (yield* reviewsOf(tx, chatId, [pid])).map(({ review }) => review).slice(0, limit ?? undefined);
    }),
}));

/**
 * The reviews of a chat user, newest first, then by `otherChatId`. In each, this user is `chatId`.
 *
 * @param place the scope; empty for all scopes
 */
export const reviewsOf = Effect.fnUntraced(function* (
  tx: Transaction,
  chatId: ChatId,
  place: readonly [] | readonly [Pid],
) {
  const all = yield* tx.list(reviews.byUser, [chatId, ...place]);
  const found = yield* Effect.filter(all, (stored) => isCurrent(tx, stored));
  return found
    .map(({ pid, review }) => {
      const otherChatId = review.chatId === chatId ? review.otherChatId : review.chatId;
      return { pid, review: { ...review, chatId, otherChatId } };
    })
    .toSorted(
      ({ review: one }, { review: other }) =>
        other.at - one.at || Order.String(one.otherChatId, other.otherChatId),
    );
});
