import type { ChatId } from "@accountlink/core";
import type { AltReview } from "@accountlink/core/alts";
import { Order } from "effect";

export class ScopeReviews {
  readonly #byPair = new Map<string, AltReview>();

  /** Stores the review, replacing any earlier review of its pair. */
  put(review: AltReview): void {
    this.#byPair.set(nameOf(review.chatId, review.otherChatId), review);
  }

  remove(chatId: ChatId, otherChatId: ChatId): boolean {
    return this.#byPair.delete(nameOf(chatId, otherChatId));
  }

  has(chatId: ChatId, otherChatId: ChatId): boolean {
    return this.#byPair.has(nameOf(chatId, otherChatId));
  }

  /** The reviews of a chat user, newest first, then by `otherChatId`. In each, this user is `chatId`. */
  of(chatId: ChatId): ReadonlyArray<AltReview> {
    return [...this.#byPair.values()]
      .filter((review) => review.chatId === chatId || review.otherChatId === chatId)
      .map((review) => {
        const otherChatId = review.chatId === chatId ? review.otherChatId : review.chatId;
        return { ...review, chatId, otherChatId };
      })
      .toSorted((one, other) => other.at - one.at || Order.String(one.otherChatId, other.otherChatId));
  }
}

const nameOf = (...pair: [ChatId, ChatId]): string => pair.toSorted().join(" ");
