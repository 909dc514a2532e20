import type { ChatId, Pid, StoragePorts } from "@accountlink/core";
import type { ProtectedAddress } from "@accountlink/core/addresses";
import { type SharedSightings, SightingStore, type StoredSighting } from "@accountlink/core/alts";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { ada, atOnce, bob, cyd, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";

const addressAt = (hash: string): ProtectedAddress => ({ hash, sealed: "sealed", addressKeyId: "k1" });

/** Creates a scope and the operations on its sightings. */
const newSightingSteps = Effect.gen(function* () {
  const [store, sessions] = [yield* SightingStore, yield* SessionStore];
  const { pid } = (yield* makeScopes).global;
  return {
    /** Records when users were seen at an address. */
    see: (hash: string, seen: Readonly<Record<ChatId, Millis>>) =>
      sessions.recordSightings(
        pid,
        Object.entries(seen).map(([chatId, seenAt]) => ({
          chatId: chatId as ChatId,
          address: addressAt(hash),
          seenAt,
        })),
      ),
    rotate: (chatId: ChatId, hash: string, newHash: string) =>
      store.reprotect(pid, [{ chatId, hash, address: addressAt(newHash) }]),
    forget: (sightingsBefore: Millis) => sessions.sweep({ at: 0, sessionsBefore: 0, sightingsBefore }),
    count: (...addresses: ReadonlyArray<ReadonlyArray<string>>) => store.countUsers(pid, addresses),
    /** Finds the users who were seen at these addresses. Returns sorted texts, each with chat ID, hash and time. */
    find: (hashes: ReadonlyArray<string>, parts: Partial<SharedSightings> = {}) =>
      Effect.map(
        store.findShared(pid, { hashes, including: [], excluding: [], limit: 10, ...parts }),
        (found) => found.map(({ chatId, hash, seenAt }) => `${chatId} ${hash} ${seenAt}`).toSorted(),
      ),
  };
});

const sharedSightings: Cases<StoragePorts> = {
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

  "findShared finds any number of users at a hundred places": function* () {
    const { see, find } = yield* newSightingSteps;
    const hashes = Array.from({ length: 100 }, (_, place) => `place ${place}`);
    yield* Effect.forEach(hashes, (hash) => see(hash, { [ada]: 1 }), atOnce);
    const including = Array.from({ length: 120 }, () => uniqueChatId());
    const expected = hashes.map((hash) => `${ada} ${hash} 1`).toSorted();
    expectEqual(yield* find(hashes, { including, limit: 1 }), expected);
  },
};

const record = (pid: Pid, chatId: ChatId, address: ProtectedAddress, seenAt: Millis) =>
  SessionStore.use((sessions) => sessions.recordSightings(pid, [{ chatId, address, seenAt }]));

const recordBrowser = (pid: Pid, chatId: ChatId) =>
  SessionStore.use((sessions) =>
    sessions.recordSightings(pid, [{ chatId, browser: uniqueText(), seenAt: 1 }]),
  );

const addressUnder = (addressKeyId: string, hash: string = uniqueText()): ProtectedAddress => ({
  hash,
  sealed: uniqueText(),
  addressKeyId,
});

/** Lists all sightings whose addresses are sealed under this address key. Each case uses its own key. */
const listUnder = Effect.fnUntraced(function* (addressKeyId: string, pageSize = 1_000) {
  const store = yield* SightingStore;
  const found: Array<StoredSighting> = [];
  let page: ReadonlyArray<StoredSighting> = [];
  do {
    page = yield* store.listUnderOtherKeys("", page.at(-1) ?? null, pageSize);
    found.push(...page);
  } while (page.length === pageSize);
  return found.filter(({ address }) => address.addressKeyId === addressKeyId);
});

const byHash = (one: StoredSighting, other: StoredSighting): number =>
  one.address.hash < other.address.hash ? -1 : 1;

export const sightingCases: Cases<StoragePorts> = {
  ...sharedSightings,

  "countByKey counts sightings by their keys": function* () {
    const store = yield* SightingStore;
    const { global, guild } = yield* makeScopes;
    const [one, other] = [uniqueText(), uniqueText()];
    yield* record(global.pid, ada, addressUnder(one), 1);
    yield* record(global.pid, bob, addressUnder(one), 1);
    yield* record(guild.pid, ada, addressUnder(other), 1);
    yield* recordBrowser(global.pid, ada);
    const counts = yield* store.countByKey();
    expectEqual([counts.get(one), counts.get(other), counts.get(uniqueText())], [2, 1, undefined]);
  },

  "listUnderOtherKeys returns each sighting once, in pages of any size": function* () {
    const store = yield* SightingStore;
    const { global, guild } = yield* makeScopes;
    const key = uniqueText();
    const written: Array<StoredSighting> = [];
    for (const { pid } of [global, guild]) {
      for (const chatId of [cyd, ada, bob]) {
        for (const seenAt of [3, 1, 2]) {
          const address = addressUnder(key);
          yield* record(pid, chatId, address, seenAt);
          written.push({ pid, chatId, address, seenAt });
        }
        yield* recordBrowser(pid, chatId);
      }
    }
    const all = yield* listUnder(key);
    expectEqual(all.toSorted(byHash), written.toSorted(byHash));
    expectEqual(yield* listUnder(key, 1), all);
    expectEqual(yield* listUnder(key, 5), all);
    const others = yield* store.listUnderOtherKeys(key, null, 1_000);
    expectEqual(
      others.filter(({ address }) => address.addressKeyId === key),
      [],
    );
  },

  "concurrent reprotect and recordSightings lose no sighting": function* () {
    const store = yield* SightingStore;
    const { global } = yield* makeScopes;
    const { pid } = global;
    const [old, newest] = [uniqueText(), uniqueText()];
    const pairs = Array.from({ length: 50 }, () => [addressUnder(old), addressUnder(newest)] as const);
    for (const [first] of pairs) yield* record(pid, ada, first, 1);
    const changes = pairs.map(([{ hash }, address]) => ({ chatId: ada, hash, address }));
    yield* Effect.all(
      [
        store.reprotect(pid, changes),
        store.reprotect(pid, changes.toReversed()),
        ...pairs.map(([, second]) => record(pid, ada, second, 2)),
      ],
      atOnce,
    );
    expectEqual(yield* listUnder(old), []);
    const seen = (yield* listUnder(newest)).map(({ seenAt }) => seenAt);
    expectEqual(
      seen,
      pairs.map(() => 2),
    );
  },
};
