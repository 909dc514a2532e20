import { Context, type Effect } from "effect";

/**
 * Whether Redis answers, for services that report a degraded state. This file loads nothing else of this package, so
 * that a server without Redis can use it. @internal
 */
export class RedisHealth extends Context.Service<
  RedisHealth,
  { readonly isReachable: Effect.Effect<boolean> }
>()("@accountlink/redis/RedisHealth") {}
