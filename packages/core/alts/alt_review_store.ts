import { Context } from "effect";
import type { WriteContext } from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { AltPair, AltReview } from "./alt_review.ts";

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
    readonly set: (write: SetAltReview) => StoreEffect<void>;

    /**
     * Deletes the review of a pair and writes `review.deleted` to the audit log. Returns false, and writes nothing, if
     * there is no review.
     */
    readonly remove: (write: ReviewedPair) => StoreEffect<boolean>;

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
