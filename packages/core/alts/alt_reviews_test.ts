import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import type { ChatId } from "../ids.ts";
import { chatId, operator, scopes, services } from "../test_services.ts";
import { AltReviewStore, mostReviews } from "./alt_review_store.ts";
import { AltReviews } from "./alt_reviews.ts";

testWith(services)(
  "a user with the most reviews gets no further one, and keeps those in force",
  function* () {
    const [reviews, store] = [yield* AltReviews, yield* AltReviewStore];
    const { global: scope } = yield* scopes;
    const others = Array.from({ length: mostReviews }, (_, number) => chatId(String(5_000_000 + number)));
    const [first] = others as [ChatId];
    const review = { chatId: chatId("10001"), verdict: "same", note: null, keyId: null } as const;
    for (const otherChatId of others)
      yield* store.set({ ...operator, ...review, otherChatId, pid: scope.pid, at: 0 });
    const target = { scope, guildId: null, origin: operator };
    const refused = yield* Effect.flip(reviews.set(target, { ...review, otherChatId: chatId("10002") }));
    assert.deepInclude(refused, { code: "CONFLICT", details: { reason: "review_limit" } });
    const replaced = yield* reviews.set(target, { ...review, otherChatId: first, verdict: "different" });
    assert.strictEqual(replaced.verdict, "different");
    yield* reviews.remove(target, { chatId: review.chatId, otherChatId: first });
    yield* reviews.set(target, { ...review, otherChatId: chatId("10002") });
  },
);
