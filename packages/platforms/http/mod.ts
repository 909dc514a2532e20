/**
 * Building blocks for platforms behind HTTP: a client with timeouts, retries and a circuit breaker, sign-in by OAuth
 * 2.0, and short-lived caches.
 *
 * An adapter implements its ports with `resilientClient`, `findResource` and `identityProvider`. The application
 * wraps them in `cachedChatPlatform` and `cachedGamePlatform`.
 */
export * from "./caching/cached_platforms.ts";
export { countedEntries, type EntriesOptions, entriesOf, nullish, unlessOdd } from "./entries.ts";
export * from "./find_resource.ts";
export * from "./oauth/oauth.ts";
export * from "./resilience/request_failed.ts";
export * from "./resilience/resilience.ts";
export * from "./resilience/resilient_client.ts";
