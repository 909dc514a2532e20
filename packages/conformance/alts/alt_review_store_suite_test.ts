import { AltReviewStore } from "@accountlink/core/alts";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import * as test from "vitest";
import { altReviewStoreSuite } from "../mod.ts";
import { failingTitles, withMistake } from "../test_mistakes.ts";

type Store = AltReviewStore["Service"];

const memory = StorageMemory.layer;

/** Mistakes of an adapter, by the case that must detect them. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
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
};

test.describe("altReviewStoreSuite", () => {
  test.it("passes on memory", async () => {
    const failed = await failingTitles((api) => altReviewStoreSuite({ name: "", layer: memory, test: api }));
    test.expect(failed).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("detects a mistake with: %s", async (title, mistake) => {
    const layer = withMistake(memory, AltReviewStore, mistake);
    const failed = await failingTitles((api) => altReviewStoreSuite({ name: "", layer, test: api }));
    test.expect(failed).toContain(title);
  });
});
