import { RootKeyStore } from "@accountlink/core/secrets";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { rootKeyStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(rootKeyStoreSuite, StorageMemory.layer, RootKeyStore, {
  "adopt stores `ifEmpty` in an empty store, and returns it ever after": () => ({
    adopt: ({ ifEmpty }) => Effect.succeed(ifEmpty),
  }),
  "adopt stores `otherwise` in a store with accounts": (store) => ({
    adopt: ({ ifEmpty }) => store.adopt({ ifEmpty, otherwise: ifEmpty }),
  }),
  "concurrent adopts all return the same root key": (store) => ({
    adopt: (candidates) =>
      Effect.andThen(Effect.yieldNow, Effect.as(store.adopt(candidates), candidates.ifEmpty)),
  }),
  "replace replaces only the expected root key": (store) => ({
    replace: (_, next) =>
      Effect.flatMap(store.adopt({ ifEmpty: next, otherwise: next }), (stored) =>
        store.replace(stored, next),
      ),
  }),
  "concurrent replaces: exactly one succeeds": (store) => ({
    replace: (expected, next) => Effect.as(store.replace(expected, next), true),
  }),
  "root keys keep every Unicode text; unstorable text is a defect": (store) => ({
    replace: (expected, next) => store.replace(expected, next.trim()),
  }),
});
