/** A moderator's judgement of a pair of chat users. It overrides all weights. */

import { Clock, Context, Effect, Layer } from "effect";
import type { WriteContext } from "../audit/audit.ts";
import {
  type Conflict,
  InvalidParameter,
  type ParameterProblem,
  parameterProblem,
  type StoreEffect,
} from "../errors.ts";
import type { Keyed } from "../idempotency/idempotency_store.ts";
import type { ChatId, KeyId, Pid } from "../ids.ts";
import type { WriteTarget } from "../links/link_writer.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import type { Millis } from "../timestamp.ts";

/** `different`: two people. `same`: one person. */
export type AltVerdict = "different" | "same";

/** A pair of chat users, in any order. */
export interface AltPair {
  readonly chatId: ChatId;
  readonly otherChatId: ChatId;
}

/** The review of a pair. `chatId` is the chat user that the request names, or names first. */
export interface AltReview extends AltPair {
  readonly verdict: AltVerdict;
  /** At most `longestNote` characters, or null. */
  readonly note: string | null;
  readonly at: Millis;
  /** The key that made the review; null for a review from the dashboard. */
  readonly keyId: KeyId | null;
}

/** The greatest length of a note in characters. @internal */
export const longestNote = 500;

export interface ReviewedPair extends WriteContext, AltPair {}

export interface SetAltReview extends ReviewedPair, Pick<AltReview, "verdict" | "note" | "keyId"> {}

/**
 * Stores reviews. `LinkStore.deleteScope` deletes the reviews of a scope, `UserStore.erase` the reviews of a user.
 * Every operation is atomic. An unknown scope, and text that `isStorable` refuses, are defects.
 */
export class AltReviewStore extends Context.Service<
  AltReviewStore,
  {
    /** Stores or replaces the review of a pair, and writes `review.set` to the audit log. */
    readonly set: (write: SetAltReview & Keyed) => StoreEffect<void, Conflict>;

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

const maxListedReviews = 100;

/** Returns a problem if both users of a pair are the same user. @internal */
export const pairProblems = ({ chatId, otherChatId }: Partial<AltPair>): ReadonlyArray<ParameterProblem> =>
  chatId !== undefined && chatId === otherChatId
    ? [parameterProblem("otherChatId", { is: "another_user" })]
    : [];

export type NewAltReview = Omit<AltReview, "at">;

export interface AltReviewRemoved extends AltPair {
  readonly deleted: boolean;
}

const reviewOf = ({ chatId, otherChatId, verdict, note, keyId, at }: SetAltReview): AltReview => ({
  chatId,
  otherChatId,
  verdict,
  note,
  keyId,
  at,
});

/** Returns what a store keeps of a review under an idempotency key. @internal */
export const keptReview = (_: void, write: SetAltReview): AltReview => reviewOf(write);

/** Returns what a store keeps of a removal under an idempotency key. @internal */
export const removedReview = (deleted: boolean, { chatId, otherChatId }: AltPair): AltReviewRemoved => ({
  chatId,
  otherChatId,
  deleted,
});

/**
 * Makes, lists and deletes reviews of pairs of chat users, who need not be members of the guild. A write fails with
 * `Conflict` only if the target has an idempotency key that is taken.
 *
 * @example
 * ```ts
 * import { ChatId, KeyId } from "@accountlink/core";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Scope } from "accountlink";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const program = Effect.gen(function* () {
 *   const reviews = yield* AltReviews;
 *   const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
 *   const target = { scope: yield* Scope, guildId: null, origin };
 *   const pair = { chatId: ChatId.make("100001"), otherChatId: ChatId.make("100002") };
 *   const keyId = KeyId.make("Aa0Bb1Cc2Dd3");
 *   yield* reviews.set(target, { ...pair, verdict: "different", note: "Brothers", keyId });
 *   return (yield* reviews.remove(target, pair)).deleted;
 * });
 * await world.run(program); // true
 * await world.close();
 * ```
 */
export class AltReviews extends Context.Service<AltReviews>()("@accountlink/core/AltReviews", {
  make: Effect.gen(function* () {
    const store = yield* AltReviewStore;
    const guard = yield* GuildGuard;

    const writeContext = Effect.fnUntraced(function* (
      { scope, guildId, origin }: Omit<WriteTarget, "once">,
      pair: AltPair,
    ) {
      const problems = pairProblems(pair);
      if (problems.length > 0) return yield* new InvalidParameter({ parameters: problems });
      yield* guard.enter(scope, guildId);
      return { ...origin, pid: scope.pid, at: yield* Clock.currentTimeMillis };
    });

    return {
      /** Stores or replaces the review of a pair. It takes effect with the next request. */
      set: Effect.fn("AltReviews.set")(function* (target: WriteTarget, review: NewAltReview) {
        const context = yield* writeContext(target, review);
        const write = { ...review, ...context, once: target.once };
        yield* store.set(write);
        return reviewOf(write);
      }),

      /** Returns the newest 100 reviews of a chat user. */
      list: Effect.fn("AltReviews.list")(function* (
        { scope, guildId }: Pick<WriteTarget, "scope" | "guildId">,
        chatId: ChatId,
      ) {
        yield* guard.enter(scope, guildId);
        return yield* store.findByChatId(scope.pid, chatId, maxListedReviews);
      }),

      remove: Effect.fn("AltReviews.remove")(function* (
        target: WriteTarget,
        { chatId, otherChatId }: AltPair,
      ) {
        const context = yield* writeContext(target, { chatId, otherChatId });
        const write = { ...context, chatId, otherChatId, once: target.once };
        return removedReview(yield* store.remove(write), write);
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(AltReviews, AltReviews.make);
}
