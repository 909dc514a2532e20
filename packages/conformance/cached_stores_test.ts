import { CacheMemory } from "@accountlink/cache-memory";
import { CacheAgreement, CachedStores, LinkCache } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Layer } from "effect";
import * as test from "vitest";
import { newUserBench } from "./internal/user_store/bench.ts";
import { chess, storagePropertySuite } from "./mod.ts";

/** Agreed on long ago, so that the cache is in use from the start. */
const agreement = Layer.effect(
  CacheAgreement,
  Effect.gen(function* () {
    const agreed = yield* CacheAgreement;
    yield* agreed.adopt((yield* (yield* LinkCache).look).run, 0);
    const read = Effect.map(agreed.read, (terms) => ({ ...terms, isOpen: true, adoptedMsAgo: Infinity }));
    return { ...agreed, read };
  }),
);

const layer = CachedStores.layer.pipe(
  Layer.provideMerge(Layer.provideMerge(agreement, StorageMemory.layer)),
  Layer.provide(CacheMemory.layer),
);
const name = "Memory behind a cache";

test.describe(name, () => {
  test.it("shows no record of a user who was erased", () =>
    Effect.gen(function* () {
      const user = yield* newUserBench;
      const { global } = yield* user.newWorld;
      yield* user.set(global, chess);
      // What is asked for twice is cached.
      for (let reads = 0; reads < 3; reads++) yield* user.recordOf(global);
      test.expect((yield* user.erase([global.pid]))?.records).toBe(1);
      test.expect(yield* user.recordOf(global)).toBeNull();
    }).pipe(Effect.provide(layer), Effect.runPromise),
  );
});

storagePropertySuite({ name, layer, model: StorageMemory.layer, test, runs: 5 });
