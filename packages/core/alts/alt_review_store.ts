/** Stores moderators' judgements of pairs of chat users. */
import { Context, Effect, Order, Schema, Struct } from "effect";
import type { WriteContext } from "../audit/audit.ts";
import type { Conflict, StoreEffect } from "../errors.ts";
import type { Keyed } from "../idempotency/idempotency_store.ts";
import { ChatId, KeyId, Pid } from "../ids.ts";
import { type RecordOf, recordStore, recordType, type Tx } from "../records/mod.ts";

const AltVerdict = Schema.Literals(["different", "same"]);
/** `different`: two people. `same`: one person. */
export type AltVerdict = typeof AltVerdict.Type;

/** A pair of chat users, in any order. */
export interface AltPair {
  readonly chatId: ChatId;
  readonly otherChatId: ChatId;
}

/** The review of a pair. `chatId` is the chat user that the request names, or names first. */
export interface AltReview extends Omit<RecordOf<typeof altReviews>, "pid"> {}

/** The greatest length of a note in characters. @internal */
export const longestNote = 500;

/** How many reviews a chat user of a scope has at most: each search for alts reads them all. @internal */
export const mostReviews = 1_000;

export interface ReviewedPair extends WriteContext, AltPair {}

export interface SetAltReview extends ReviewedPair, Pick<AltReview, "verdict" | "note" | "keyId"> {}

/**
 * Stores reviews. `LinkStore.deleteScope` deletes the reviews of a scope, `UserStore.erase` the reviews of a user.
 * Every operation is atomic. An unknown scope, and text that `isStorable` refuses, are defects.
 */
export class AltReviewStore extends Context.Service<
  AltReviewStore,
  {
    /**
     * Stores or replaces the review of a pair, and writes `review.set` to the audit log. Returns false, and writes nothing,
     * if the pair has no review and one of the two users has `mostReviews`.
     */
    readonly set: (write: SetAltReview & Keyed) => StoreEffect<boolean, Conflict>;

    /**
     * Deletes the review of a pair and writes `review.deleted` to the audit log. Returns false, and writes nothing, if
     * there is no review.
     */
    readonly remove: (write: ReviewedPair & Keyed) => StoreEffect<boolean, Conflict>;

    /**
     * Returns the reviews of a chat user, newest first. Reviews of the same time are sorted by the other chat ID as a
     * string.
     *
     * @param limit how many at most; null for all
     */
    readonly findByChatId: (
      pid: Pid,
      chatId: ChatId,
      limit: number | null,
    ) => StoreEffect<ReadonlyArray<AltReview>>;
  }
>()("@accountlink/core/AltReviewStore") {}

export interface AltReviewRemoved extends AltPair {
  readonly deleted: boolean;
}

/** @internal */
export const reviewOf = (write: SetAltReview): AltReview =>
  Struct.pick(write, ["chatId", "otherChatId", "verdict", "note", "keyId", "at"]);

/** Returns what a store keeps of a review under an idempotency key; null for a refusal. @internal */
export const keptReview = (isStored: boolean, write: SetAltReview): AltReview | null =>
  isStored ? reviewOf(write) : null;

/** Returns what a store keeps of a removal under an idempotency key. @internal */
export const removedReview = (deleted: boolean, { chatId, otherChatId }: AltPair): AltReviewRemoved => ({
  chatId,
  otherChatId,
  deleted,
});

/** A pair has one review, whoever of the two is named first: its users are sorted. @internal */
export const altReviews = recordType({
  name: "alt_reviews",
  fields: {
    pid: Pid,
    chatId: ChatId,
    otherChatId: ChatId,
    verdict: AltVerdict,
    /** At most `longestNote` characters, or null. */
    note: Schema.NullOr(Schema.String),
    at: Schema.Int,
    /** The key that made the review; null for a review from the dashboard. */
    keyId: Schema.NullOr(KeyId),
  },
  columns: { at: "reviewed_at" },
  key: ["pid", "chatId", "otherChatId"],
  indexes: {
    byUser: { either: ["chatId", "otherChatId"], fields: ["pid", "chatId", "otherChatId"], group: 1 },
    byScope: { fields: ["pid", "chatId", "otherChatId"] },
  },
  isOfScope: true,
  ofUser: { index: "byUser", erasedAs: () => "reviews" },
});

/** The key of the review of a pair. @internal */
export const reviewKey = (pid: Pid, { chatId, otherChatId }: AltPair) =>
  chatId < otherChatId ? ([pid, chatId, otherChatId] as const) : ([pid, otherChatId, chatId] as const);

/**
 * Returns the reviews of a chat user, newest first, then by the other user. `otherChatId` is the other user in each.
 *
 * @param place the scope; empty for all scopes
 * @internal
 */
export const reviewsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId, place: readonly [Pid?]) {
  return (yield* tx.list(altReviews.byUser, [chatId, ...(place as ReadonlyArray<Pid>)]))
    .map(({ pid, ...review }) => {
      const otherChatId = review.chatId === chatId ? review.otherChatId : review.chatId;
      return { pid, review: { ...review, chatId, otherChatId } };
    })
    .toSorted(
      ({ review: one }, { review: other }) =>
        other.at - one.at || Order.String(one.otherChatId, other.otherChatId),
    );
});

const byScope = ({ pid }: { readonly pid: Pid }): string => pid;

/** Stores reviews in any storage. @internal */
export const storedAltReviews = recordStore(AltReviewStore, ({ read, keyedWrite }) => ({
  set: keyedWrite<boolean, SetAltReview & Keyed>("set", keptReview, byScope, function* (tx, write) {
    const { pid, chatId, otherChatId, verdict, note, at, keyId } = write;
    const key = reviewKey(pid, write);
    const [, one, other] = key;
    const isNew = (yield* tx.get(altReviews, ...key)) === undefined;
    for (const user of isNew ? [one, other] : []) {
      const count = yield* tx.count(altReviews.byUser, [user, pid], { most: mostReviews });
      if (count >= mostReviews) return false;
    }
    yield* tx.put(altReviews, { pid, chatId: one, otherChatId: other, verdict, note, at, keyId });
    yield* tx.journal(write, "review.set", { chatId, otherChatId, verdict });
    return true;
  }),

  remove: keyedWrite<boolean, ReviewedPair & Keyed>("remove", removedReview, byScope, function* (tx, write) {
    const { pid, chatId, otherChatId } = write;
    const removed = yield* tx.remove(altReviews, ...reviewKey(pid, write));
    if (removed === undefined) return false;
    yield* tx.journal(write, "review.deleted", { chatId, otherChatId });
    return true;
  }),

  findByChatId: (pid, chatId, limit) =>
    read("findByChatId", function* (tx) {
      return (yield* reviewsOf(tx, chatId, [pid])).map(({ review }) => review).slice(0, limit ?? undefined);
    }),
}));
