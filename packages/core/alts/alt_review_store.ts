import { Context, type Effect } from "effect";
import type { WriteContext } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { AltReview } from "./alt_review.ts";

/** A pair of chat users, in any order. */
export interface ReviewedPair extends WriteContext {
  readonly chatId: ChatId;
  readonly otherChatId: ChatId;
}

export interface SetAltReview extends ReviewedPair, Pick<AltReview, "verdict" | "note" | "keyId"> {}

/**
 * Stores reviews. `LinkStore.deleteScope` deletes the reviews of a scope, `UserStore.erase` the reviews of a user.
 * Every operation is atomic. An unknown scope, and text that `isStorable` refuses, are defects.
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
 *   const store = yield* AltReviewStore;
 *   const { pid } = yield* Scope;
 *   const pair = { chatId: ChatId.make("100001"), otherChatId: ChatId.make("100002") };
 *   const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
 *   const said = { verdict: "same", note: null, keyId: KeyId.make("Aa0Bb1Cc2Dd3") } as const;
 *   yield* store.set({ ...origin, ...pair, ...said, pid, at: 0 });
 *   return (yield* store.findByChatId(pid, pair.otherChatId, null)).map(({ verdict }) => verdict);
 * });
 * await world.run(program); // ["same"]
 * await world.close();
 * ```
 */
export class AltReviewStore extends Context.Service<
  AltReviewStore,
  {
    /** Stores or replaces the review of a pair, and writes `review.set` to the audit log. */
    readonly set: (write: SetAltReview) => Effect.Effect<void, StoreUnavailable>;

    /**
     * Deletes the review of a pair and writes `review.deleted` to the audit log. Returns false, and writes nothing, if
     * there is no review.
     */
    readonly remove: (write: ReviewedPair) => Effect.Effect<boolean, StoreUnavailable>;

    /**
     * Returns the reviews of a chat user, newest first, ties by the other chat ID as strings.
     *
     * @param limit how many at most; null for all
     */
    readonly findByChatId: (
      pid: Pid,
      chatId: ChatId,
      limit: number | null,
    ) => Effect.Effect<ReadonlyArray<AltReview>, StoreUnavailable>;
  }
>()("@accountlink/core/AltReviewStore") {}
