import { Context } from "effect";
import type { StoreEffect } from "../errors.ts";

/** Stores the single wrapped root key of a deployment, see `wrapped_root_key.ts`. Every operation is atomic. */
export class RootKeyStore extends Context.Service<
  RootKeyStore,
  {
    /** Stores a root key unless the store has one, and returns the stored key. */
    readonly adopt: (wrapped: string) => StoreEffect<string>;

    /** Replaces the root key if it equals `expected`, and returns whether it did. */
    readonly replace: (expected: string, next: string) => StoreEffect<boolean>;
  }
>()("@accountlink/core/RootKeyStore") {}
