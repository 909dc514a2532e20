/** Links in a key-value store of yours: three functions in promises, which `docs/adapters.md` describes. */
import { CacheMemory } from "@accountlink/cache-memory";
import type { StoreUnavailable } from "@accountlink/core";
import { ResilientCounters } from "@accountlink/core/limits";
import { StorageKv } from "@accountlink/storage-kv";
import { Layer } from "effect";
import type { Storage } from "./storage.ts";

export { StorageKv };

/** Why a key-value store cannot be used. */
export type KvError = StorageKv.StoreTooNew | StoreUnavailable;

/**
 * A key-value store. Each process that has it counts requests for itself, learns of revoked keys within a second and of
 * sessions within two, and hears the events of no other.
 *
 * @param open opens the store; it is closed with the service
 *
 * @example
 * ```ts
 * import { createAccountLink } from "accountlink";
 * import { kv, StorageKv } from "accountlink/kv";
 *
 * const files = new Map<string, string>();
 * const single: StorageKv.SingleKeyStore = {
 *   get: async (key) => files.get(key) ?? null,
 *   set: async (key, value) => void files.set(key, value),
 *   remove: async (key) => void files.delete(key),
 *   keys: async () => [...files.keys()],
 * };
 * const secret = crypto.getRandomValues(new Uint8Array(32));
 * const storage = kv(() => StorageKv.singleProcess(single));
 * const al = await createAccountLink({ storage, secret, gameUserExists: () => true });
 * await al.links.set("100001", "1");
 * await al.close();
 * files.size > 0; // true
 * ```
 */
export const kv = (open: () => Promise<StorageKv.KeyValueStore>): Storage<KvError> =>
  ResilientCounters.layer().pipe(Layer.provideMerge(Layer.merge(StorageKv.layer(open), CacheMemory.layer)));
