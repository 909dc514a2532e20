import { Context, type Option } from "effect";
import type { StoreEffect } from "./errors.ts";
import type { Millis } from "./timestamp.ts";

/**
 * A key-value cache. An entry may be evicted at any time, and is gone after its deadline.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import { Effect, Option } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const cache = yield* Cache;
 *   yield* cache.set("profile:1", "ada", 30_000, 0);
 *   return [yield* cache.get("profile:1", 29_999), yield* cache.get("profile:1", 30_000)];
 * });
 * await Effect.runPromise(Effect.provide(program, CacheMemory.layer)); // [Option.some("ada"), Option.none()]
 * ```
 */
export class Cache extends Context.Service<
  Cache,
  {
    readonly get: (key: string, now: Millis) => StoreEffect<Option.Option<string>>;
    /** Returns the entries of many keys, in the order of the keys, in one read. */
    readonly getMany: (
      keys: ReadonlyArray<string>,
      now: Millis,
    ) => StoreEffect<ReadonlyArray<Option.Option<string>>>;
    readonly set: (key: string, value: string, expiresAt: Millis, now: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/Cache") {}
