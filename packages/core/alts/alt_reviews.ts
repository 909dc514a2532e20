/** A moderator's judgement of a pair of chat users. It overrides all weights. */
import { Clock, Context, Effect, Layer } from "effect";
import { Conflict, InvalidParameter, type ParameterProblem, parameterProblem } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import type { WriteTarget } from "../links/link_writer.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { type AltPair, type AltReview, AltReviewStore, removedReview, reviewOf } from "./alt_review_store.ts";

const maxListedReviews = 100;

/** Returns a problem if both users of a pair are the same user. @internal */
export const pairProblems = ({ chatId, otherChatId }: Partial<AltPair>): ReadonlyArray<ParameterProblem> =>
  chatId !== undefined && chatId === otherChatId
    ? [parameterProblem("otherChatId", { is: "another_user" })]
    : [];

export type NewAltReview = Omit<AltReview, "at">;

/**
 * Makes, lists and deletes reviews of pairs of chat users, who need not be members of the guild. A write fails with
 * `Conflict` if the target has an idempotency key that is taken, or if a user of a new pair has 1,000 reviews.
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
        if (!(yield* store.set(write))) return yield* new Conflict({ reason: "review_limit" });
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
