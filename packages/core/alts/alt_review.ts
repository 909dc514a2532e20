/** What a moderator says about a pair of chat users. It beats every weight. */
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
  /** The key that it was made with; null for one of the dashboard. */
  readonly keyId: KeyId | null;
}

/**
 * The review as one of its two users sees it.
 *
 * @example
 * ```ts
 * import { ChatId, KeyId } from "@accountlink/core";
 *
 * const [ada, bob] = [ChatId.make("100001"), ChatId.make("100002")];
 * const note = "x".repeat(longestNote);
 * const made = { verdict: "different", note, keyId: KeyId.make("Aa0Bb1Cc2Dd3") } as const;
 * const review = { ...made, chatId: ada, otherChatId: bob, at: 1_000 };
 * reviewAsSeenBy(bob, review).otherChatId; // "100001"
 * [review, { ...review, at: 2_000 }].toSorted(newestReviewFirst).map(({ at }) => at); // [2000, 1000]
 * ```
 */
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
