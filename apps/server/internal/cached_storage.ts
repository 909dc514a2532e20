import { type CacheAgreement, CachedStores, type LinkStore, type SessionStore } from "@accountlink/core";
import { Layer } from "effect";
import type { Cache, Storage } from "../plan.ts";

/**
 * The storage, with links cached where nodes share a cache: another one would be no faster than the storage. Everybody who
 * writes to a storage has to use it in this way.
 */
export const cachedStorage = <Stores, E>(
  stores: Layer.Layer<Stores | LinkStore | SessionStore | CacheAgreement, E>,
  storage: Storage,
  cache: Cache,
) =>
  storage.kind === "postgres" && cache.kind === "redis"
    ? CachedStores.layer.pipe(Layer.provideMerge(stores))
    : stores;
