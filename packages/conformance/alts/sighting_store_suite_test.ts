import { isAtAddress } from "@accountlink/core/addresses";
import { SightingStore, type StoredSighting } from "@accountlink/core/alts";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { sightingStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(sightingStoreSuite, StorageMemory.layer, SightingStore, {
  "findByChatIds gives where chat users of the scope were seen": (store) => ({
    findByChatIds: (pid, chatIds) =>
      Effect.map(store.findByChatIds(pid, chatIds), (found) => [...found, ...found]),
  }),
  "findShared gives everybody at the addresses, with all their sightings there": (store) => ({
    findShared: (pid, query) =>
      Effect.map(store.findShared(pid, query), (found) => [
        ...new Map(found.map((sighting) => [sighting.chatId, sighting])).values(),
      ]),
  }),
  "findShared and countUsers take browsers like addresses": (store) => ({
    findByChatIds: (pid, chatIds) =>
      Effect.map(store.findByChatIds(pid, chatIds), (found) => found.filter(isAtAddress)),
  }),
  "findShared leaves out who is excluded, and adds who is included": (store) => ({
    findShared: (pid, query) => store.findShared(pid, { ...query, excluding: [] }),
  }),
  "findShared finds whoever was seen last, ties by chat ID": (store) => ({
    findShared: (pid, query) => store.findShared(pid, { ...query, limit: query.limit + 1 }),
  }),
  "countUsers counts everybody at each address, whatever hash they are under": (store) => ({
    countUsers: (pid, addresses) =>
      Effect.forEach(addresses, (hashes) =>
        Effect.map(
          store.countUsers(
            pid,
            hashes.map((hash) => [hash]),
          ),
          (counts) => counts.reduce((sum, count) => sum + count, 0),
        ),
      ),
  }),
  "countUsers follows rotations, sweeps and deletions": () => ({ reprotect: () => Effect.void }),
  "countByKey counts sightings by their keys": () => ({ countByKey: () => Effect.succeed(new Map()) }),
  "listUnderOtherKeys returns each sighting once, in pages of any size": (store) => ({
    listUnderOtherKeys: (keyId, after, limit) =>
      Effect.map(store.listUnderOtherKeys(keyId, after, limit + 1), (page) =>
        page.filter(({ seenAt }) => seenAt > 1).slice(0, limit),
      ),
  }),
  "reprotect replaces the address, and keeps the time": (store) => ({
    reprotect: (pid, sightings) =>
      store.reprotect(
        pid,
        sightings.map((sighting) => ({
          ...sighting,
          address: { ...sighting.address, hash: sighting.hash },
        })),
      ),
  }),
  "reprotect does not restore a deleted sighting": (store) => {
    const revived: Array<StoredSighting> = [];
    return {
      reprotect: (pid, sightings) => {
        revived.push(...sightings.map(({ chatId, address }) => ({ pid, chatId, address, seenAt: 1 })));
        return store.reprotect(pid, sightings);
      },
      listUnderOtherKeys: (keyId, after, limit) =>
        Effect.map(store.listUnderOtherKeys(keyId, after, limit), (page) => [...page, ...revived]),
    };
  },
  "reprotect keeps the later of two sightings that become equal": () => ({ reprotect: () => Effect.void }),
  "concurrent reprotect and recordSightings lose no sighting": (store) => ({
    reprotect: (pid, sightings) => store.reprotect(pid, sightings.slice(0, 10)),
  }),
  "hashes, ciphertexts and key IDs keep every Unicode text; unstorable text is a defect": (store) => ({
    listUnderOtherKeys: (keyId, after, limit) =>
      Effect.map(store.listUnderOtherKeys(keyId, after, limit), (page) =>
        page.map(({ address, ...rest }) => ({
          ...rest,
          address: { ...address, sealed: address.sealed.trim() },
        })),
      ),
  }),
});
