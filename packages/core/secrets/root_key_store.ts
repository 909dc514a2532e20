/** The port for the wrapped root key of a deployment, see `wrapped_root_key.ts`. */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";

/**
 * Where the one wrapped root key lives. Every operation is atomic.
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
    /** Stores a root key unless there is one. Returns the stored one. */
    readonly adopt: (wrapped: string) => Effect.Effect<string, StoreUnavailable>;

    /** Replaces the root key if it is `expected`. Returns whether it was. */
    readonly replace: (expected: string, next: string) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/RootKeyStore") {}
