import { CacheMemory } from "@accountlink/cache-memory";
import { Cache } from "@accountlink/core";
import { Effect } from "effect";
import { cacheSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(cacheSuite, CacheMemory.layer, Cache, {
  "get returns the value of set": () => ({ set: () => Effect.void }),
  "an entry expires exactly at its deadline": (cache) => ({
    get: (key, now) => cache.get(key, now - 1),
  }),
  "set with a past deadline removes the entry": (cache) => ({
    set: (key, value, expiresAt, now) =>
      expiresAt < now ? Effect.void : cache.set(key, value, expiresAt, now),
  }),
  "set overwrites value and deadline, also with an earlier one": (cache) => {
    const deadlines = new Map<string, number>();
    return {
      set: (key, value, expiresAt, now) => {
        deadlines.set(key, Math.max(expiresAt, deadlines.get(key) ?? 0));
        return cache.set(key, value, deadlines.get(key) as number, now);
      },
    };
  },
  "keys and values keep every Unicode text distinct": (cache) => ({
    set: (key, value, expiresAt, now) => cache.set(key.normalize(), value, expiresAt, now),
  }),
});
