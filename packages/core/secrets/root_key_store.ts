/**
 * The port for the wrapped root key of a deployment, see `wrapped_root_key.ts`.
 */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";

/** The root key for a store that has none. */
export interface RootKeyCandidates {
  /** For a store without accounts. */
  readonly ifEmpty: string;
  /** For a store with accounts, from before root keys existed. */
  readonly otherwise: string;
}

/**
 * Where the one wrapped root key lives. Every operation is atomic.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const store = yield* RootKeyStore;
 *   const wrapped = yield* store.adopt({ ifEmpty: "v1.random", otherwise: "v1.of-the-secret" });
 *   return [wrapped, yield* store.replace("v1.another", "v1.next")];
 * });
 * await Effect.runPromise(Effect.provide(program, StorageMemory.layer)); // ["v1.random", false]
 * ```
 */
export class RootKeyStore extends Context.Service<
  RootKeyStore,
  {
    /** Stores a candidate unless there is a root key. Returns the stored one. */
    readonly adopt: (candidates: RootKeyCandidates) => Effect.Effect<string, StoreUnavailable>;

    /** Replaces the root key if it is `expected`. Returns whether it was. */
    readonly replace: (expected: string, next: string) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/RootKeyStore") {}
