/** A moderator's judgement of a pair of chat users. It overrides all weights. */
import type { ChatId, KeyId } from "../ids.ts";
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
