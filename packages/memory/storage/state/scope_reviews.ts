import type { ChatId } from "@accountlink/core";
import { type AltReview, newestReviewFirst, reviewAsSeenBy } from "@accountlink/core/alts";

/** The reviews of one scope, by pair. */
export class ScopeReviews {
  readonly #byPair = new Map<string, AltReview>();

  /** Stores the review in the place of the one that its pair had. */
  put(review: AltReview): void {
    this.#byPair.set(nameOf(review.chatId, review.otherChatId), review);
  }

  /** Whether there was one. */
  remove(chatId: ChatId, otherChatId: ChatId): boolean {
    return this.#byPair.delete(nameOf(chatId, otherChatId));
  }

  has(chatId: ChatId, otherChatId: ChatId): boolean {
    return this.#byPair.has(nameOf(chatId, otherChatId));
  }

  /** Those of the pairs that a chat user is in, as seen from that user: newest first, ties by the other chat ID. */
  of(chatId: ChatId): ReadonlyArray<AltReview> {
    return [...this.#byPair.values()]
      .filter((review) => review.chatId === chatId || review.otherChatId === chatId)
      .map((review) => reviewAsSeenBy(chatId, review))
      .toSorted(newestReviewFirst);
  }
}

const nameOf = (...pair: [ChatId, ChatId]): string => pair.toSorted().join(" ");
