import { SightingStore, type StoredSighting } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { sightingStoreSuite } from "./mod.ts";

type Store = SightingStore["Service"];

const memory = StorageMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "sightings are counted by their keys": () => ({ countByKey: () => Effect.succeed(new Map()) }),
  "sightings under other keys are listed, all of them once, in pages of any size": (store) => ({
    listUnderOtherKeys: (keyId, after, limit) =>
      Effect.map(store.listUnderOtherKeys(keyId, after, limit + 1), (page) =>
        page.filter(({ seenAt }) => seenAt > 1).slice(0, limit),
      ),
  }),
  "reprotect replaces the address and keeps the time": (store) => ({
    reprotect: (pid, sightings) =>
      store.reprotect(
        pid,
        sightings.map((sighting) => ({
          ...sighting,
          address: { ...sighting.address, hash: sighting.hash },
        })),
      ),
  }),
  "a sighting that is gone stays gone": (store) => {
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
  "of two sightings that become the same the later one remains": () => ({ reprotect: () => Effect.void }),
  "racing rotations and new sightings lose no sighting": (store) => ({
    reprotect: (pid, sightings) => store.reprotect(pid, sightings.slice(0, 10)),
  }),
  "hashes, ciphertexts and key ids are texts; what not every store can hold is a defect": (store) => ({
    listUnderOtherKeys: (keyId, after, limit) =>
      Effect.map(store.listUnderOtherKeys(keyId, after, limit), (page) =>
        page.map(({ address, ...rest }) => ({
          ...rest,
          address: { ...address, sealed: address.sealed.trim() },
        })),
      ),
  }),
};

test.describe("sightingStoreSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    const failed = await failingTitles((api) => sightingStoreSuite({ name: "", layer: memory, test: api }));
    test.expect(failed).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, SightingStore, mistake);
    const failed = await failingTitles((api) => sightingStoreSuite({ name: "", layer, test: api }));
    test.expect(failed).toContain(title);
  });
});
