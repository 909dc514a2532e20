/**
 * The port for the root key of a deployment, which is stored wrapped: `wrapped_root_key.ts` says how.
 */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";

/** What a store without a root key is given, depending on what else it holds. */
export interface RootKeyCandidates {
  /** For a store without accounts. */
  readonly ifEmpty: string;
  /** For a store whose accounts were made before there were root keys. */
  readonly otherwise: string;
}

/** Where the one wrapped root key lives. Every operation is atomic. */
export class RootKeyStore extends Context.Service<
  RootKeyStore,
  {
    /** Stores one of the candidates unless there is a root key, and gives the one that is stored. */
    readonly adopt: (candidates: RootKeyCandidates) => Effect.Effect<string, StoreUnavailable>;

    /** Replaces the root key if it is `expected`, and tells whether it was. */
    readonly replace: (expected: string, next: string) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/RootKeyStore") {}
