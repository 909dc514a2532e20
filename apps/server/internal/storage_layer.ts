import { CachedStores } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { StorageSql } from "@accountlink/storage-sql";
import { type Duration, Layer } from "effect";
import type { Cache, Storage } from "../plan.ts";

/** How a storage is opened. */
interface Opening {
  /** Whether this is the one server of an embedded storage. */
  readonly exclusive: boolean;
  /** How long a database server that is not there yet is waited for; not at all when left out. */
  readonly startTimeout?: Duration.Input;
}

/**
 * The storage ports. Links are cached where nodes share a cache and a database: no cache is faster than the other
 * storages. Whoever writes to a storage has to open it with this, since the nodes trust their cache.
 */
export const storageLayer = (storage: Storage, cache: Cache, opening: Opening) => {
  const stores = uncached(storage, opening);
  return storage.kind === "postgres" && cache.kind === "redis"
    ? CachedStores.layer.pipe(Layer.provideMerge(stores))
    : stores;
};

const uncached = (storage: Storage, { exclusive, ...opening }: Opening) => {
  switch (storage.kind) {
    case "memory":
      return StorageMemory.layer;
    case "embedded":
      return StorageSql.layerEmbedded({ ...storage, exclusive });
    case "postgres":
      return StorageSql.layerPostgres({ ...storage, ...opening });
  }
};
