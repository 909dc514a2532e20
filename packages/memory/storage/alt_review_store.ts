import { AltReviewStore, type ReviewedPair, type SetAltReview } from "@accountlink/core/alts";
import { assertStorable } from "@accountlink/core/storable_text";
import { getOrInsert } from "./state/get_or_insert.ts";
import { ScopeReviews } from "./state/scope_reviews.ts";
import { layerOf, type Memory } from "./state/state.ts";

export const layer = layerOf(AltReviewStore, (memory) => ({
  set: (write) => setReview(memory, write),
  remove: (write) => removeReview(memory, write),
  findByChatId: (pid, chatId, limit) =>
    (memory.reviews.get(pid)?.of(chatId) ?? []).slice(0, limit ?? undefined),
}));

const setReview = (memory: Memory, write: SetAltReview): void => {
  const { pid, chatId, otherChatId, verdict, note, at, keyId } = write;
  const { scope } = memory.linksOf(pid);
  assertStorable([note ?? ""]);
  memory.record({ ...write, action: "review.set", scope, details: { chatId, otherChatId, verdict } });
  const reviews = getOrInsert(memory.reviews, pid, () => new ScopeReviews());
  reviews.put({ chatId, otherChatId, verdict, note, at, keyId });
};

const removeReview = (memory: Memory, write: ReviewedPair): boolean => {
  const { pid, chatId, otherChatId } = write;
  const reviews = memory.reviews.get(pid);
  if (reviews === undefined || !reviews.has(chatId, otherChatId)) return false;
  const { scope } = memory.linksOf(pid);
  memory.record({ ...write, action: "review.deleted", scope, details: { chatId, otherChatId } });
  return reviews.remove(chatId, otherChatId);
};
