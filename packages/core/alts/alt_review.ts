/**
 * What a moderator says about a pair of chat users. It beats every weight.
 */
import type { ChatId, KeyId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** `different`: two people. `same`: one person. */
export type AltVerdict = "different" | "same";

/** The review of a pair, which has no order: `chatId` is the user that was asked about. */
export interface AltReview {
  readonly chatId: ChatId;
  readonly otherChatId: ChatId;
  readonly verdict: AltVerdict;
  /** At most `longestNote` characters, or null. */
  readonly note: string | null;
  readonly at: Millis;
  /** The key that it was made with. */
  readonly keyId: KeyId;
}

/** The review as one of its two users sees it. */
export const reviewAsSeenBy = (chatId: ChatId, review: AltReview): AltReview => ({
  ...review,
  chatId,
  otherChatId: review.chatId === chatId ? review.otherChatId : review.chatId,
});

/** The order of the reviews of one user: newest first, ties by the other chat ID as strings. */
export const newestReviewFirst = (one: AltReview, other: AltReview): number =>
  other.at - one.at || (one.otherChatId < other.otherChatId ? -1 : 1);

/** How many characters a note may have. */
export const longestNote = 500;
