import { AltReviewStore } from "@accountlink/core/alts";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { altReviewStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(altReviewStoreSuite, StorageMemory.layer, AltReviewStore, {
  "a review is found from both of its pair, as seen from the one that is asked about": (store) => ({
    findByChatId: (pid, chatId, limit) =>
      Effect.map(store.findByChatId(pid, chatId, limit), (found) =>
        found.map((review) =>
          review.chatId < review.otherChatId
            ? review
            : { ...review, chatId: review.otherChatId, otherChatId: review.chatId },
        ),
      ),
  }),
  "a pair has one review, in whatever order it is named": (store) => ({
    remove: (write) => (write.chatId < write.otherChatId ? store.remove(write) : Effect.succeed(false)),
  }),
  "reviews come newest first, ties by the other chat ID, and no more than asked for": (store) => ({
    findByChatId: (pid, chatId) => store.findByChatId(pid, chatId, null),
  }),
  "every change has an entry in the log, and none without one": (store) => ({
    remove: (write) =>
      Effect.andThen(
        store.set({ ...write, verdict: "same", note: null, keyId: "000000000000" as never }),
        store.remove(write),
      ),
  }),
});
