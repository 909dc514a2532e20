import { CacheMemory } from "@accountlink/cache-memory";
import { Cache } from "@accountlink/core";
import { Effect } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { cacheSuite } from "./mod.ts";

type Shape = Cache["Service"];

const memory = CacheMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (cache: Shape) => Partial<Shape>>> = {
  "get gives what was set": () => ({ set: () => Effect.void }),
  "an entry lasts until its deadline and not at it": (cache) => ({
    get: (key, now) => cache.get(key, now - 1),
  }),
  "an entry whose deadline is past is never seen": (cache) => ({
    set: (key, value, expiresAt, now) =>
      expiresAt < now ? Effect.void : cache.set(key, value, expiresAt, now),
  }),
  "a set overwrites the value and its deadline, to earlier and to later": (cache) => {
    const deadlines = new Map<string, number>();
    return {
      set: (key, value, expiresAt, now) => {
        deadlines.set(key, Math.max(expiresAt, deadlines.get(key) ?? 0));
        return cache.set(key, value, deadlines.get(key) as number, now);
      },
    };
  },
  "keys and values are texts, told apart to the letter": (cache) => ({
    set: (key, value, expiresAt, now) => cache.set(key.normalize(), value, expiresAt, now),
  }),
};

test.describe("cacheSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test.expect(await failingTitles((api) => cacheSuite({ name: "", layer: memory, test: api }))).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, Cache, mistake);
    test.expect(await failingTitles((api) => cacheSuite({ name: "", layer, test: api }))).toContain(title);
  });
});
