import type { ChatId, Pid, StoragePorts } from "@accountlink/core";
import type { ProtectedAddress } from "@accountlink/core/addresses";
import { SightingStore, type StoredSighting } from "@accountlink/core/alts";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { ada, atOnce, bob, cyd, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { sharedSightings } from "./shared_sightings.ts";

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
