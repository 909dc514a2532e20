import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";

/**
 * Stores the single wrapped root key of a deployment, see `wrapped_root_key.ts`. Every operation is atomic.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const store = yield* RootKeyStore;
 *   const wrapped = yield* store.adopt("v1.random");
 *   return [wrapped, yield* store.replace("v1.another", "v1.next")];
 * });
 * await Effect.runPromise(Effect.provide(program, StorageMemory.layer)); // ["v1.random", false]
 * ```
 */
export class RootKeyStore extends Context.Service<
  RootKeyStore,
  {
    /** Stores a root key unless the store has one, and returns the stored key. */
    readonly adopt: (wrapped: string) => Effect.Effect<string, StoreUnavailable>;

    /** Replaces the root key if it equals `expected`, and returns whether it did. */
    readonly replace: (expected: string, next: string) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/RootKeyStore") {}
