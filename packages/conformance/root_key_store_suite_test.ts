import { RootKeyStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { rootKeyStoreSuite } from "./mod.ts";

type Store = RootKeyStore["Service"];

const memory = StorageMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "adopt stores a root key in an empty store, and from then on gives that one": () => ({
    adopt: ({ ifEmpty }) => Effect.succeed(ifEmpty),
  }),
  "adopt stores the other candidate in a store with accounts": (store) => ({
    adopt: ({ ifEmpty }) => store.adopt({ ifEmpty, otherwise: ifEmpty }),
  }),
  "racing adoptions give all the same root key": (store) => ({
    adopt: (candidates) =>
      Effect.andThen(Effect.yieldNow, Effect.as(store.adopt(candidates), candidates.ifEmpty)),
  }),
  "replace replaces what is expected, and nothing else": (store) => ({
    replace: (_, next) =>
      Effect.flatMap(store.adopt({ ifEmpty: next, otherwise: next }), (stored) =>
        store.replace(stored, next),
      ),
  }),
  "of racing replacements one is made": (store) => ({
    replace: (expected, next) => Effect.as(store.replace(expected, next), true),
  }),
  "root keys are texts; what not every store can hold is a defect": (store) => ({
    replace: (expected, next) => store.replace(expected, next.trim()),
  }),
};

test.describe("rootKeyStoreSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    const failed = await failingTitles((api) => rootKeyStoreSuite({ name: "", layer: memory, test: api }));
    test.expect(failed).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, RootKeyStore, mistake);
    const failed = await failingTitles((api) => rootKeyStoreSuite({ name: "", layer, test: api }));
    test.expect(failed).toContain(title);
  });
});
