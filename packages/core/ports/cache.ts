/**
 * The port for what may be forgotten: answers of the platforms, and which keys were accepted of late.
 */
import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../link.ts";

/** Where short-lived values live. An entry may be gone at any time, and is always gone at its deadline. */
export class Cache extends Context.Service<
  Cache,
  {
    readonly get: (key: string, now: Millis) => Effect.Effect<Option.Option<string>, StoreUnavailable>;
    readonly set: (
      key: string,
      value: string,
      expiresAt: Millis,
      now: Millis,
    ) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/Cache") {}
