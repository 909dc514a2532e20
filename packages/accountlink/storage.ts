import type { Cache, Counters, Signals, StoragePorts } from "@accountlink/core";
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { Layer } from "effect";

/**
 * Provides the store, and the cache, counters and signals that nodes share. Use `memory()`, `sqlite()` of
 * `accountlink/sqlite`, `postgres()` of `accountlink/postgres`, `kv()` of `accountlink/kv`, or a layer of your own.
 *
 * @typeParam E the errors of opening the storage
 */
export type Storage<E = unknown> = Layer.Layer<StoragePorts | Cache | Counters | Signals, E>;

/** Stores data in the memory of this process. Every build of the layer starts empty. */
export const memory = (): Storage<never> => Layer.fresh(Layer.merge(StorageMemory.layer, CacheMemory.layer));
