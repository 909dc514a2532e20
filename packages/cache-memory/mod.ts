/**
 * Counters, cache and signals in the memory of one process. A service of several processes needs
 * shared ones, such as `CacheRedis`.
 *
 * @example
 * ```ts
 * import { Counters } from "@accountlink/core";
 * import { Effect } from "effect";
 *
 * const rule = { key: "requests", limit: 1, durationMs: 1000 };
 * const admitTwice = Effect.gen(function* () {
 *   const counters = yield* Counters;
 *   const first = yield* counters.admit([rule], 0);
 *   const second = yield* counters.admit([rule], 500);
 *   return [first.admitted, second.admitted];
 * });
 * Effect.runSync(Effect.provide(admitTwice, CacheMemory.layer)); // [true, false]
 * ```
 */
export * as CacheMemory from "./cache_memory.ts";
