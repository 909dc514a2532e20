import { RootKeyStore } from "@accountlink/core/secrets";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import * as test from "vitest";
import { rootKeyStoreSuite } from "../mod.ts";
import { failingTitles, withMistake } from "../test_mistakes.ts";

type Store = RootKeyStore["Service"];

const memory = StorageMemory.layer;

/** Mistakes of an adapter, by the case that must detect them. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "adopt stores a root key once, and returns it ever after": () => ({
    adopt: (wrapped) => Effect.succeed(wrapped),
  }),
  "concurrent adopts all return the same root key": (store) => ({
    adopt: (wrapped) => Effect.andThen(Effect.yieldNow, Effect.as(store.adopt(wrapped), wrapped)),
  }),
  "replace replaces only the expected root key": (store) => ({
    replace: (_, next) => Effect.flatMap(store.adopt(next), (stored) => store.replace(stored, next)),
  }),
  "concurrent replaces: exactly one succeeds": (store) => ({
    replace: (expected, next) => Effect.as(store.replace(expected, next), true),
  }),
  "root keys keep every Unicode text; unstorable text is a defect": (store) => ({
    replace: (expected, next) => store.replace(expected, next.trim()),
  }),
};

test.describe("rootKeyStoreSuite", () => {
  test.it("passes on memory", async () => {
    const failed = await failingTitles((api) => rootKeyStoreSuite({ name: "", layer: memory, test: api }));
    test.expect(failed).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("detects a mistake with: %s", async (title, mistake) => {
    const layer = withMistake(memory, RootKeyStore, mistake);
    const failed = await failingTitles((api) => rootKeyStoreSuite({ name: "", layer, test: api }));
    test.expect(failed).toContain(title);
  });
});
