import { RootKeyStore } from "@accountlink/core/secrets";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { rootKeyStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(rootKeyStoreSuite, StorageMemory.layer, RootKeyStore, {
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
});
