import type { ChatId } from "@accountlink/core";
import { AltReviewStore, type ReviewedPair, type SetAltReview } from "@accountlink/core/alts";
import type { Keyed } from "@accountlink/core/idempotency";
import { assertStorable } from "@accountlink/core/storable_text";
import { Order } from "effect";
import { keyedWrite, layerOf, type Memory } from "./state.ts";

const nameOf = ({ pid, chatId, otherChatId }: ReviewedPair): string =>
  [pid, ...[chatId, otherChatId].toSorted()].join(" ");

export const layer = layerOf(AltReviewStore, (memory) => ({
  set: keyedWrite(memory, (write: SetAltReview & Keyed<void>) => {
    const { pid, chatId, otherChatId, verdict, note, at, keyId } = write;
    assertStorable([note ?? ""]);
    memory.record({ ...write, action: "review.set", details: { chatId, otherChatId, verdict } });
    memory.reviews.set(nameOf(write), { pid, review: { chatId, otherChatId, verdict, note, at, keyId } });
  }),

  remove: keyedWrite(memory, (write: ReviewedPair & Keyed<boolean>) => {
    const { chatId, otherChatId } = write;
    if (!memory.reviews.has(nameOf(write))) return false;
    memory.record({ ...write, action: "review.deleted", details: { chatId, otherChatId } });
    return memory.reviews.delete(nameOf(write));
  }),

  findByChatId: (pid, chatId, limit) =>
    reviewsOf(memory, chatId)
      .filter((found) => found.pid === pid)
      .map(({ review }) => review)
      .slice(0, limit ?? undefined),
}));

/** The reviews of a chat user in all scopes, newest first, then by `otherChatId`. In each, this user is `chatId`. */
export const reviewsOf = (memory: Memory, chatId: ChatId) =>
  [...memory.reviews.values()]
    .filter(({ review }) => review.chatId === chatId || review.otherChatId === chatId)
    .map(({ pid, review }) => {
      const otherChatId = review.chatId === chatId ? review.otherChatId : review.chatId;
      return { pid, review: { ...review, chatId, otherChatId } };
    })
    .toSorted(
      ({ review: one }, { review: other }) =>
        other.at - one.at || Order.String(one.otherChatId, other.otherChatId),
    );
