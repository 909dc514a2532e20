import { CacheMemory } from "@accountlink/cache-memory";
import { type Fence, LinkCache, type Pid } from "@accountlink/core";
import { Effect } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { linkCacheSuite } from "./mod.ts";

type Shape = LinkCache["Service"];

const memory = CacheMemory.layer;
const minute = 60_000;

/** Fills in as if the token were still there. */
const filledAnyway = (cache: Shape): Shape["put"] =>
  Effect.fnUntraced(function* (lease, name, entry) {
    const read = yield* Effect.andThen(cache.read(lease, name, minute), cache.read(lease, name, minute));
    const token = read._tag === "Miss" ? (read.token ?? "") : "";
    yield* cache.put(lease, name, { ...entry, token });
  });

const oneId = (fence: Fence): Fence => ({ ...fence, id: "one for all" });

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (cache: Shape) => Partial<Shape>>> = {
  "look gives the same run, and a time that goes on": (cache) => ({
    look: Effect.map(cache.look, ({ time }) => ({ run: crypto.randomUUID(), time })),
  }),
  "read gives what was filled in, the whole record, or that there is none": (cache) => ({
    put: (lease, name, entry) => (entry.record === null ? Effect.void : cache.put(lease, name, entry)),
  }),
  "who misses a record first leaves a token, who comes next is given that": (cache) => ({
    read: (lease, name, tokenMs) =>
      Effect.map(cache.read(lease, name, tokenMs), (read) =>
        read._tag === "Miss" ? { _tag: "Miss", token: crypto.randomUUID() } : read,
      ),
  }),
  "put takes a token once, and no other": (cache) => ({ put: filledAnyway(cache) }),
  "an entry and a token are gone after their life": (cache) => ({ put: filledAnyway(cache) }),
  "data of one scope is never visible from another": (cache) => {
    const pids = new Set<Pid>();
    return {
      read: (lease, name, tokenMs) => {
        pids.add(name.pid);
        return cache.read(lease, name, tokenMs);
      },
      fence: (lease, fence, fenceMs) => {
        const records = fence.records.flatMap(({ chatId }) => [...pids].map((pid) => ({ pid, chatId })));
        return cache.fence(lease, { ...fence, records: [...fence.records, ...records] }, fenceMs);
      },
    };
  },
  "a fence removes records and tokens, of its records alone": () => ({ fence: () => Effect.succeed(true) }),
  "a token from before a fence fills nothing in after it": (cache) => ({ put: filledAnyway(cache) }),
  "of several fences each stands until it is lifted": (cache) => ({
    fence: (lease, fence, fenceMs) => cache.fence(lease, oneId(fence), fenceMs),
    lift: (fence) => cache.lift(oneId(fence)),
  }),
  "a fence that was lifted, is over, or never was does not stand": (cache) => ({
    lift: (fence) => Effect.as(cache.lift(fence), true),
  }),
  "under a lease that is over, or of another run, nothing is read, filled in or fenced": (cache) => ({
    read: (lease, name, tokenMs) => cache.read({ ...lease, until: Number.MAX_SAFE_INTEGER }, name, tokenMs),
  }),
  "however readers and writers are interleaved, a hit is what the store holds": () => ({
    fence: () => Effect.succeed(true),
    lift: () => Effect.succeed(true),
  }),
};

test.describe("linkCacheSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => linkCacheSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, LinkCache, mistake);
    test
      .expect(await failingTitles((api) => linkCacheSuite({ name: "", layer, test: api })))
      .toContain(title);
  });
});
