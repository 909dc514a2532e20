import { type ChatId, LinkStore, type StoragePorts } from "@accountlink/core";
import type { ProtectedAddress } from "@accountlink/core/addresses";
import { type SharedSightings, SightingStore } from "@accountlink/core/alts";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { ada, atOnce, bob, cyd, makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";

const addressAt = (hash: string): ProtectedAddress => ({ hash, sealed: "sealed", addressKeyId: "k1" });

/** Creates a scope and the operations on its sightings. */
const newSightingSteps = Effect.gen(function* () {
  const [store, sessions, links] = [yield* SightingStore, yield* SessionStore, yield* LinkStore];
  const { global, guild } = yield* makeScopes;
  const { pid } = global;
  return {
    store,
    pid,
    otherPid: guild.pid,
    /** Records when users were seen at an address. */
    see: (hash: string, seen: Readonly<Record<ChatId, Millis>>, scope = pid) =>
      sessions.recordSightings(
        scope,
        Object.entries(seen).map(([chatId, seenAt]) => ({
          chatId: chatId as ChatId,
          address: addressAt(hash),
          seenAt,
        })),
      ),
    /** Records when users were seen in a browser. */
    seeIn: (browser: string, seen: Readonly<Record<ChatId, Millis>>, scope = pid) =>
      sessions.recordSightings(
        scope,
        Object.entries(seen).map(([chatId, seenAt]) => ({ chatId: chatId as ChatId, browser, seenAt })),
      ),
    rotate: (chatId: ChatId, hash: string, newHash: string) =>
      store.reprotect(pid, [{ chatId, hash, address: addressAt(newHash) }]),
    forget: (sightingsBefore: Millis) => sessions.sweep({ at: 0, sessionsBefore: 0, sightingsBefore }),
    deleteScope: links.deleteScope({ ...origin, pid, at: 0 }),
    count: (...addresses: ReadonlyArray<ReadonlyArray<string>>) => store.countUsers(pid, addresses),
    /** Finds the users who were seen at these addresses. Returns sorted texts, each with chat ID, hash and time. */
    find: (hashes: ReadonlyArray<string>, parts: Partial<SharedSightings> = {}) =>
      Effect.map(
        store.findShared(pid, { hashes, including: [], excluding: [], limit: 10, ...parts }),
        (found) => found.map(({ chatId, hash, seenAt }) => `${chatId} ${hash} ${seenAt}`).toSorted(),
      ),
  };
});

export const sharedSightings: Cases<StoragePorts> = {
  "findByChatIds returns the addresses of these users in the scope": function* () {
    const { store, pid, otherPid, see } = yield* newSightingSteps;
    yield* see("home", { [ada]: 1, [bob]: 2, [cyd]: 3 });
    yield* see("school", { [ada]: 4 });
    yield* see("home", { [ada]: 9 }, otherPid);
    const found = yield* store.findByChatIds(pid, [ada, bob, ada]);
    expectEqual(
      found.toSorted((one, other) => one.seenAt - other.seenAt),
      [
        { chatId: ada, address: addressAt("home"), seenAt: 1 },
        { chatId: bob, address: addressAt("home"), seenAt: 2 },
        { chatId: ada, address: addressAt("school"), seenAt: 4 },
      ],
    );
    expectEqual(yield* store.findByChatIds(pid, []), []);
  },

  "findShared and countUsers treat browsers like addresses": function* () {
    const { store, pid, see, seeIn, find, count, rotate, forget, otherPid } = yield* newSightingSteps;
    yield* see("home", { [ada]: 1, [bob]: 2 });
    yield* seeIn("phone", { [ada]: 3, [cyd]: 9 });
    yield* seeIn("phone", { [ada]: 5, [cyd]: 4 });
    yield* seeIn("phone", { [bob]: 6 }, otherPid);
    expectEqual(yield* find(["home", "phone"]), [
      `${ada} home 1`,
      `${ada} phone 5`,
      `${bob} home 2`,
      `${cyd} phone 9`,
    ]);
    expectEqual(yield* find(["home", "phone"], { excluding: [ada], limit: 1 }), [`${cyd} phone 9`]);
    expectEqual(yield* count(["home"], ["phone"], ["computer"]), [2, 2, 0]);
    const seen = yield* store.findByChatIds(pid, [ada]);
    expectEqual(
      seen.toSorted((one, other) => one.seenAt - other.seenAt),
      [
        { chatId: ada, address: addressAt("home"), seenAt: 1 },
        { chatId: ada, browser: "phone", seenAt: 5 },
      ],
    );
    yield* rotate(ada, "phone", "newest");
    expectEqual(yield* find(["phone", "newest"], { excluding: [cyd] }), [`${ada} phone 5`]);
    yield* forget(6);
    expectEqual(yield* count(["home"], ["phone"]), [0, 1]);
  },

  "findShared omits excluded users, and always returns included ones": function* () {
    const { see, find } = yield* newSightingSteps;
    yield* see("home", { [ada]: 3, [bob]: 2, [cyd]: 1 });
    yield* see("elsewhere", { [cyd]: 4 });
    expectEqual(yield* find(["home"], { excluding: [ada, uniqueChatId()] }), [
      `${bob} home 2`,
      `${cyd} home 1`,
    ]);
    const both = { excluding: [ada], including: [ada, cyd, uniqueChatId()], limit: 1 };
    expectEqual(yield* find(["home"], both), [`${ada} home 3`, `${bob} home 2`, `${cyd} home 1`]);
  },

  "findShared returns the users seen last, ties by chat ID": function* () {
    const { see, find } = yield* newSightingSteps;
    const users = Array.from({ length: 20 }, (_, i) => `${20_000 + i}` as ChatId);
    const [first, second, third] = users as [ChatId, ChatId, ChatId];
    yield* see("home", Object.fromEntries(users.map((chatId, i) => [chatId, i < 2 ? 50 : i])));
    yield* see("school", { [third]: 60, [first]: 1 });
    expectEqual(yield* find(["home"], { limit: 1 }), [`${first} home 50`]);
    expectEqual(yield* find(["home"], { limit: 3 }), [
      `${first} home 50`,
      `${second} home 50`,
      `${users[19]} home 19`,
    ]);
    expectEqual(yield* find(["home", "school"], { limit: 2 }), [
      `${first} home 50`,
      `${first} school 1`,
      `${third} home 2`,
      `${third} school 60`,
    ]);
  },

  "countUsers counts each user of an address once, under any of its hashes": function* () {
    const { see, count, otherPid } = yield* newSightingSteps;
    yield* see("home", { [ada]: 1, [bob]: 2 });
    yield* see("home", { [ada]: 3 });
    yield* see("home, new key", { [bob]: 4, [cyd]: 5 });
    yield* see("school", { [ada]: 1 });
    yield* see("home", { [cyd]: 7 }, otherPid);
    expectEqual(
      yield* count(["home"], ["home", "home, new key"], ["school", "school, new key"], ["unseen"], []),
      [2, 3, 1, 0, 0],
    );
    expectEqual(yield* count(), []);
  },

  "countUsers follows rotations, sweeps and deletions": function* () {
    const { store, otherPid, see, seeIn, count, rotate, forget, deleteScope } = yield* newSightingSteps;
    yield* see("home", { [ada]: 100, [bob]: -100, [cyd]: 0 });
    yield* see("home", { [ada]: -1, [bob]: 1 }, otherPid);
    yield* rotate(ada, "home", "newest");
    yield* rotate(ada, "home", "newest");
    expectEqual(yield* count(["home"], ["newest"], ["home", "newest"]), [2, 1, 3]);
    yield* forget(0);
    expectEqual(yield* count(["home"], ["newest"]), [1, 1]);
    expectEqual(yield* store.countUsers(otherPid, [["home"]]), [1]);
    yield* seeIn("phone", { [ada]: 1 });
    yield* deleteScope;
    expectEqual(yield* count(["home"], ["newest"], ["phone"]), [0, 0, 0]);
    yield* see("home", { [ada]: 1 });
    expectEqual(yield* count(["home"]), [1]);
  },

  "countUsers is right after racing sightings, rotations and sweeps": function* () {
    const { see, find, count, rotate, forget } = yield* newSightingSteps;
    const users = Array.from({ length: 12 }, () => uniqueChatId());
    const hashes = ["one", "two", "three", uniqueText()];
    const everywhere = users.flatMap((chatId, i) =>
      hashes.map((hash, j) => see(hash, { [chatId]: (i + j) % 3 === 0 ? -1 : 1 })),
    );
    const rotations = users.map((chatId) => rotate(chatId, "one", "two"));
    yield* Effect.all([...everywhere, ...rotations, forget(0), forget(0)], atOnce);
    const found = yield* find(hashes, { limit: 100 });
    const expected = hashes.map((hash) => found.filter((line) => line.split(" ")[1] === hash).length);
    expectEqual(yield* count(...hashes.map((hash) => [hash])), expected);
  },
};
