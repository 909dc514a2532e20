import { ChatId, type StoragePorts } from "@accountlink/core";
import { mostSuspects, type Suspect, SuspectStore } from "@accountlink/core/alts";
import { UserStore } from "@accountlink/core/users";
import { Array as Arr, Effect } from "effect";
import { expectEqual } from "../expect.ts";
import { line, newLinkSteps } from "../links/link_steps.ts";
import { atOnce, chess, eraseUser } from "../scopes.ts";
import type { Cases } from "../suite.ts";

/** No other case has links of these users, so that they can be erased. */
const [ada, bob, cyd] = [ChatId.make("41001"), ChatId.make("41002"), ChatId.make("41003")];

/** Creates a scope in which three users are linked, and the operations on its pairs. */
const newSuspectSteps = Effect.gen(function* () {
  const [store, users] = [yield* SuspectStore, yield* UserStore];
  const { pid, load } = yield* newLinkSteps;
  const importLinks = (chatIds: ReadonlyArray<ChatId>) =>
    load(
      chatIds.map((chatId) => line(chatId, chess, 7)),
      "replace",
      null,
      5,
    );
  yield* importLinks([ada, bob, cyd]);
  return {
    importLinks,
    add: (...suspects: ReadonlyArray<Suspect>) => store.add(pid, suspects),
    find: store.find(pid, -1_000_000),
    forget: store.forget,
    erase: (chatId: ChatId) =>
      Effect.flatMap(users.findRecords(chatId), (records) =>
        eraseUser(chatId, { at: 9, scopes: records.map(({ scope }) => scope.pid) }),
      ),
  };
});

const pair = (chatId: ChatId, otherChatId: ChatId, at: number): Suspect => ({
  chatId,
  gameId: chess,
  otherChatId,
  at,
  score: 80,
  evidence: [],
});

const others = (found: ReadonlyArray<Suspect>): ReadonlyArray<ChatId> =>
  found.map(({ otherChatId }) => otherChatId);

/** `storagePropertySuite` tests which pairs are found. */
export const suspectCases: Cases<StoragePorts> = {
  "concurrent erasure and add: no pair of the erased user is left": function* () {
    const { add, find, erase, importLinks } = yield* newSuspectSteps;
    for (let round = 0; round < 5; round++) {
      yield* importLinks([ada]);
      yield* Effect.all([add(pair(ada, bob, 1)), erase(ada), add(pair(ada, cyd, 1))], atOnce);
      expectEqual(yield* find, []);
    }
  },

  "forget deletes the pairs of older links": function* () {
    const { add, find, forget } = yield* newSuspectSteps;
    yield* add(pair(ada, bob, -8_000), pair(ada, cyd, -9_000));
    yield* forget(-8_000);
    expectEqual(others(yield* find), [bob]);
  },

  "the oldest pairs beyond the most are dropped": function* () {
    const { add, find, importLinks } = yield* newSuspectSteps;
    const users = Array.from({ length: mostSuspects + 5 }, (_, i) => ChatId.make(`${30_000 + i}`));
    for (const part of Arr.chunksOf(users, 500)) yield* importLinks(part);
    const all = users.map((user, index) => pair(ada, user, index));
    yield* add(...all);
    const found = others(yield* find);
    expectEqual([found.length, found[0], found.at(-1)], [mostSuspects, users.at(-1), users[5]]);
  },
};
