import { AuditLog, type ChatId, LinkStore, type StoragePorts } from "@accountlink/core";
import { type AltReview, AltReviewStore, type AltVerdict } from "@accountlink/core/alts";
import { Effect } from "effect";
import { hostileTexts, uniqueKeyId, uniquePid, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { ada, atOnce, bob, makeScopes, origin } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";

/** Creates a scope and the operations on its reviews. */
const newReviewSteps = Effect.gen(function* () {
  const [store, links, log] = [yield* AltReviewStore, yield* LinkStore, yield* AuditLog];
  const { account, global } = yield* makeScopes;
  const { pid } = global;
  const keyId = uniqueKeyId();
  return {
    keyId,
    set: (
      chatId: ChatId,
      otherChatId: ChatId,
      verdict: AltVerdict,
      at: number,
      note: string | null = null,
      scope = pid,
    ) => store.set({ ...origin, pid: scope, at, chatId, otherChatId, verdict, note, keyId }),
    remove: (chatId: ChatId, otherChatId: ChatId) =>
      store.remove({ ...origin, pid, at: 9, chatId, otherChatId }),
    deleteScope: links.deleteScope({ ...origin, pid, at: 9 }),
    find: (chatId: ChatId, limit: number | null = null) => store.findByChatId(pid, chatId, limit),
    entries: Effect.map(log.list(account.name, null, 100), (entries) =>
      entries.toReversed().map(({ action, details, at }) => [action, details, at]),
    ),
  };
});

const others = (reviews: ReadonlyArray<AltReview>): ReadonlyArray<ChatId> =>
  reviews.map(({ otherChatId }) => otherChatId);

const cases: Cases<StoragePorts> = {
  "findByChatId returns the newest reviews first, ties by the other chat ID, up to the limit": function* () {
    const { set, find } = yield* newReviewSteps;
    const users = Array.from({ length: 5 }, (_, i) => `${20_000 + i}` as ChatId);
    for (const [i, other] of users.entries()) yield* set(ada, other, "same", i < 3 ? 7 : i);
    const order = [0, 1, 2, 4, 3].map((i) => users[i]);
    expectEqual<unknown>(others(yield* find(ada)), order);
    expectEqual<unknown>(others(yield* find(ada, 2)), order.slice(0, 2));
  },

  "concurrent changes of a pair: one review remains, and each change has one audit entry": function* () {
    const { set, find, remove, entries } = yield* newReviewSteps;
    const sets = Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? set(ada, bob, "same", i) : set(bob, ada, "different", i),
    );
    yield* Effect.all(sets, atOnce);
    expectEqual([(yield* find(ada)).length, (yield* find(bob)).length], [1, 1]);
    expectEqual((yield* entries).length, 10);
    const removed = yield* Effect.all([remove(ada, bob), remove(bob, ada), remove(ada, bob)], atOnce);
    expectEqual(removed.filter(Boolean).length, 1);
    expectEqual((yield* entries).length, 11);
  },

  "concurrent set and deleteScope: the review remains only if it was set last": function* () {
    const { set, find, deleteScope, entries } = yield* newReviewSteps;
    for (let round = 0; round < 5; round++) {
      yield* Effect.all([set(ada, bob, "same", round), deleteScope], atOnce);
      const [last] = (yield* entries).at(-1) ?? [];
      expectEqual((yield* find(ada)).length, last === "review.set" ? 1 : 0);
    }
  },

  "notes keep every Unicode text; unstorable text and an unknown scope are defects": function* () {
    const { set, find } = yield* newReviewSteps;
    for (const note of hostileTexts) {
      yield* set(ada, bob, "same", 1, note);
      expectEqual((yield* find(ada))[0]?.note, note);
    }
    for (const note of unstorableTexts) yield* expectDefect(set(ada, bob, "same", 1, note));
    yield* expectDefect(set(ada, bob, "same", 1, null, uniquePid()));
  },
};

/** Tests an `AltReviewStore` with the other storage ports. `storagePropertySuite` tests that a pair has one review. */
export const altReviewStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("AltReviewStore", options, cases);
