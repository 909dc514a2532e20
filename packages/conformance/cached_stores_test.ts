import { CacheMemory } from "@accountlink/cache-memory";
import { CacheAgreement, CachedStores, LinkCache } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Layer } from "effect";
import * as test from "vitest";
import { storagePropertySuite } from "./mod.ts";

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

storagePropertySuite({ name, layer, model: StorageMemory.layer, test, runs: 5 });
