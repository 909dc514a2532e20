import { SignInStore } from "@accountlink/core/sign_ins";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { signInStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(signInStoreSuite, StorageMemory.layer, SignInStore, {
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
});
