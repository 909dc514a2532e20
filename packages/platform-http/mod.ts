/**
 * How a real platform is talked to, whichever it is: a client that gives up in time, and ports that remember for a
 * moment what they were told.
 *
 * An adapter builds its ports on `resilientClient` and `findResource`; the application wraps them in
 * `cachedChatPlatform` and `cachedGamePlatform`. `metrics.ts` is what they count.
 */
export * from "./cached_chat_platform.ts";
export * from "./cached_game_platform.ts";
export * from "./cached_lookup.ts";
export * from "./find_resource.ts";
export * from "./metrics.ts";
export * from "./oauth.ts";
export * from "./request_failed.ts";
export * from "./resilience.ts";
export * from "./resilient_client.ts";
export * from "./staleness.ts";
