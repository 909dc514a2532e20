/**
 * Counters, cache and signals of one process, in memory. Right for a service that runs as a single process; several
 * need ports that they share.
 *
 * @example
 * ```ts
 * const publish = Effect.flatMap(Signals, (signals) => signals.publish("keys", "changed"));
 * Effect.provide(publish, CacheMemory.layer);
 * ```
 */
export * as CacheMemory from "./cache_memory.ts";
