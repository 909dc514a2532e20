import { SignInStore } from "@accountlink/core/sign_ins";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { signInStoreSuite } from "../mod.ts";
import { failingTitles, withMistake } from "../test_mistakes.ts";

type Store = SignInStore["Service"];

const memory = StorageMemory.layer;

/** Mistakes of an adapter, by the case that must detect them. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "takeBegun takes a begun sign-in once, at its site": (store) => ({
    takeBegun: (site, stateHash, at) =>
      Effect.tap(store.takeBegun(site, stateHash, at), (taken) =>
        taken ? store.begin({ stateHash, site, expiresAt: at + 1 }) : Effect.void,
      ),
  }),
  "a begun sign-in expires exactly at its deadline": (store) => ({
    takeBegun: (site, stateHash, at) => store.takeBegun(site, stateHash, at - 1),
  }),
  "create stores the sign-in unchanged, for its site": (store) => ({
    find: (site, id, at) =>
      Effect.map(
        Effect.all([store.find(site, id, at), store.find("dashboard", id, at)]),
        ([found, elsewhere]) => Option.orElse(found, () => elsewhere),
      ),
  }),
  "create deletes the replaced sign-in, and no other": (store) => ({
    create: (signIn) => store.create(signIn, null),
  }),
  "a sign-in expires exactly at its deadline": (store) => ({
    find: (site, id, at) => store.find(site, id, at - 1),
  }),
  "list returns the sign-ins of a person to a site, newest first": (store) => ({
    list: (site, chatId, at) => Effect.map(store.list(site, chatId, at), (found) => found.toReversed()),
  }),
  "end deletes one sign-in of a person, or all of them at a site": (store) => ({
    end: (site, chatId) => store.end(site, chatId, null),
  }),
  "sweep deletes what has expired, and nothing else": (store) => ({
    sweep: (at) => store.sweep(at + 1),
  }),
};

test.describe("signInStoreSuite", () => {
  test.it("passes on memory", async () => {
    const failed = await failingTitles((api) => signInStoreSuite({ name: "", layer: memory, test: api }));
    test.expect(failed).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("detects a mistake with: %s", async (title, mistake) => {
    const layer = withMistake(memory, SignInStore, mistake);
    const failed = await failingTitles((api) => signInStoreSuite({ name: "", layer, test: api }));
    test.expect(failed).toContain(title);
  });
});
