import { AuditLog, ChatId, LinkStore, type StoragePorts } from "@accountlink/core";
import { AltReviewStore, type AltVerdict, mostReviews } from "@accountlink/core/alts";
import { Effect } from "effect";
import { uniqueKeyId } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { ada, atOnce, bob, makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";

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
    find: (chatId: ChatId) => store.findByChatId(pid, chatId, null),
    entries: Effect.map(log.list(account.name, null, 100), ({ entries }) =>
      entries.toReversed().map(({ action, details, at }) => [action, details, at]),
    ),
  };
});

/** `storagePropertySuite` tests that a pair has one review, and in which order reviews are found. */
export const altReviewCases: Cases<StoragePorts> = {
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

  "a chat user has a bounded number of reviews, each of which can be replaced": function* () {
    const { set, find, remove } = yield* newReviewSteps;
    const others = Array.from({ length: mostReviews }, (_, number) =>
      ChatId.make(String(5_000_000 + number)),
    );
    const [first] = others as [ChatId];
    yield* Effect.forEach(others, (other) => set(ada, other, "same", 1), { concurrency: 50, discard: true });
    expectEqual(yield* set(bob, ada, "same", 1), false);
    expectEqual(yield* set(first, ada, "different", 2), true);
    expectEqual((yield* find(ada)).length, mostReviews);
    expectEqual(yield* remove(ada, first), true);
    expectEqual(yield* set(bob, ada, "same", 3), true);
  },
};
