import { ChatId, LinkStore, type StoragePorts } from "@accountlink/core";
import {
  AltReviewStore,
  type AltVerdict,
  mostSuspects,
  mostSuspectsAtOnce,
  type Suspect,
  SuspectStore,
} from "@accountlink/core/alts";
import { UserStore } from "@accountlink/core/users";
import { Array as Arr, Effect } from "effect";
import { uniqueKeyId } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { atOnce, chess, makeScopes, origin, poker, rummy } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";

/** No other case has links of these users, so that they can be erased. */
const [ada, bob, cyd] = [ChatId.make("41001"), ChatId.make("41002"), ChatId.make("41003")];

/** Creates a scope in which three users are linked, and the operations on its pairs. */
const newSuspectSteps = Effect.gen(function* () {
  const [store, links, reviews, users] = [
    yield* SuspectStore,
    yield* LinkStore,
    yield* AltReviewStore,
    yield* UserStore,
  ];
  const { pid } = (yield* makeScopes).global;
  const context = { ...origin, pid, at: 5 };
  const link = (chatId: ChatId, gameId: typeof chess) =>
    links.setGame({ ...context, chatId, gameId, chatHash: `chat-${chatId}` });
  for (const [chatId, gameId] of [[ada, chess] as const, [bob, poker] as const, [cyd, rummy] as const])
    yield* link(chatId, gameId);
  return {
    pid,
    link,
    unlink: (chatId: ChatId) => links.removeGame({ ...context, chatId }),
    importLinks: (chatIds: ReadonlyArray<ChatId>) =>
      links.importBatch({
        ...context,
        links: chatIds.map((chatId) => ({ chatId, gameId: chess, lastVerifiedAt: 7 })),
        existing: "replace",
        proof: "import",
        progress: null,
      }),
    deleteScope: links.deleteScope(context),
    add: (...suspects: ReadonlyArray<Suspect>) => store.add(pid, suspects),
    find: (since = -1_000_000) => store.find(pid, since),
    ofUser: (chatId: ChatId) =>
      Effect.map(store.ofUser(chatId), (found) => found.filter((each) => each.pid === pid)),
    forget: store.forget,
    erase: (chatId: ChatId) =>
      Effect.flatMap(users.findRecords(chatId), (records) =>
        users.erase({
          ...origin,
          chatId,
          at: 9,
          scopes: records.map(({ scope }) => scope.pid),
          pseudonym: "erased",
          ownerHash: "owner",
        }),
      ),
    forgetPlaces: (chatId: ChatId) => users.forget(chatId, "browsers"),
    review: (chatId: ChatId, otherChatId: ChatId, verdict: AltVerdict) =>
      reviews.set({ ...context, chatId, otherChatId, verdict, note: null, keyId: uniqueKeyId() }),
  };
});

const pair = (
  chatId: ChatId,
  otherChatId: ChatId,
  at: number,
  { gameId = chess, score = 80, evidence = [] }: Partial<Suspect> = {},
): Suspect => ({ chatId, gameId, otherChatId, at, score, evidence });

const others = (found: ReadonlyArray<Suspect>): ReadonlyArray<ChatId> =>
  found.map(({ otherChatId }) => otherChatId);

const cases: Cases<StoragePorts> = {
  "pairs are found with all their evidence, newest first, ties by users, and replaced by a later link":
    function* () {
      const { add, find } = yield* newSuspectSteps;
      const evidence: Suspect["evidence"] = [
        { kind: "review", weight: 1 },
        { kind: "game", weight: 0.9, gameId: chess },
        { kind: "device", weight: 0.7, lastSeenAt: 3, chatUsers: 2 },
        { kind: "address", weight: 0.123, lastSeenAt: 4, chatUsers: 5 },
      ];
      const first = pair(ada, cyd, 5, { evidence });
      const second = pair(ada, bob, 5);
      const third = pair(bob, ada, 6, { gameId: poker });
      yield* add(first, second);
      yield* add(third);
      const all = [third, second, first].map((each) => ({ ...each, verdict: null }));
      expectEqual(yield* find(), all);
      expectEqual(yield* find(6), all.slice(0, 1));
      yield* add(pair(ada, cyd, 7, { score: 95 }));
      expectEqual((yield* find())[0], { ...pair(ada, cyd, 7, { score: 95 }), verdict: null });
      expectEqual((yield* find()).length, 3);
    },

  "pairs without a link or a record of their users are left out": function* () {
    const { add, find, unlink } = yield* newSuspectSteps;
    yield* add(pair(ada, ChatId.make("10009"), 1), pair(ada, bob, 1, { gameId: rummy }));
    yield* unlink(ada);
    yield* unlink(bob);
    yield* add(pair(ada, cyd, 1), pair(cyd, bob, 1, { gameId: rummy }));
    expectEqual(others(yield* find()), [bob]);
  },

  "a pair that was reviewed as different is not found, and another verdict is": function* () {
    const { add, find, review } = yield* newSuspectSteps;
    yield* add(pair(ada, bob, 1), pair(ada, cyd, 1));
    yield* review(bob, ada, "different");
    yield* review(ada, cyd, "same");
    expectEqual(
      (yield* find()).map(({ otherChatId, verdict }) => [otherChatId, verdict]),
      [[cyd, "same"]],
    );
    yield* review(ada, bob, "same");
    expectEqual(others(yield* find()), [bob, cyd]);
  },

  "the pairs of a user are those that name the user, whatever a review says": function* () {
    const { pid, add, ofUser, review, deleteScope } = yield* newSuspectSteps;
    const [first, second] = [pair(ada, bob, 1), pair(cyd, ada, 2, { gameId: rummy })];
    yield* add(first, second, pair(cyd, bob, 3, { gameId: rummy }));
    yield* review(ada, bob, "different");
    expectEqual(yield* ofUser(ada), [
      { pid, suspect: second },
      { pid, suspect: first },
    ]);
    yield* deleteScope;
    expectEqual(yield* ofUser(ada), []);
  },

  "an erasure, and the wish to be forgotten, delete the pairs of either user": function* () {
    const { add, find, erase, forgetPlaces, link } = yield* newSuspectSteps;
    const all = [
      pair(ada, bob, 1),
      pair(cyd, ada, 1, { gameId: rummy }),
      pair(cyd, bob, 1, { gameId: rummy }),
    ];
    yield* add(...all);
    yield* erase(ada);
    expectEqual(others(yield* find()), [bob]);
    yield* add(...all);
    expectEqual(others(yield* find()), [bob]);
    yield* link(ada, chess);
    yield* add(...all);
    yield* forgetPlaces(bob);
    expectEqual(others(yield* find()), [ada]);
  },

  "concurrent erasure and add: no pair of the erased user is left": function* () {
    const { add, find, erase, link } = yield* newSuspectSteps;
    for (let round = 0; round < 5; round++) {
      yield* link(ada, chess);
      yield* Effect.all([add(pair(ada, bob, 1)), erase(ada), add(pair(ada, cyd, 1))], atOnce);
      expectEqual(yield* find(), []);
    }
  },

  "deleteScope deletes the pairs of its scope": function* () {
    const { add, find, link, deleteScope } = yield* newSuspectSteps;
    yield* add(pair(ada, bob, 1));
    yield* deleteScope;
    expectEqual(yield* find(), []);
    yield* link(ada, chess);
    yield* link(bob, poker);
    expectEqual(yield* find(), []);
  },

  "forget deletes the pairs of older links": function* () {
    const { add, find, forget } = yield* newSuspectSteps;
    yield* add(pair(ada, bob, -8_000), pair(ada, cyd, -9_000));
    yield* forget(-8_000);
    expectEqual(others(yield* find()), [bob]);
  },

  "the oldest pairs beyond the most are dropped": function* () {
    const { add, find, importLinks } = yield* newSuspectSteps;
    const users = Array.from({ length: mostSuspects + 5 }, (_, i) => ChatId.make(`${30_000 + i}`));
    for (const part of Arr.chunksOf(users, 500)) yield* importLinks(part);
    const all = users.map((user, index) => pair(ada, user, index));
    for (const part of Arr.chunksOf(all, mostSuspectsAtOnce)) yield* add(...part);
    const found = others(yield* find());
    expectEqual([found.length, found[0], found.at(-1)], [mostSuspects, users.at(-1), users[5]]);
  },
};

/** Tests a `SuspectStore` with the other storage ports. */
export const suspectStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("SuspectStore", options, cases);
