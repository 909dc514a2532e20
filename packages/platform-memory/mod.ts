/**
 * Both platforms in memory, for tests and for embedders with their own source of users.
 *
 * @example
 * ```ts
 * import { GameId, GamePlatform } from "@accountlink/core";
 * import { Effect } from "effect";
 *
 * const platforms = PlatformMemory.layer({ guilds: [], chatUsers: [], gameUsers: [] });
 * const exists = Effect.flatMap(GamePlatform, (platform) => platform.hasUser(GameId.make("1")));
 * Effect.runSync(Effect.provide(exists, platforms)); // false
 * ```
 */
export * as PlatformMemory from "./platform_memory.ts";
