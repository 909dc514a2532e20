/**
 * Both platforms in memory, for tests and for embedders who know their users some other way.
 *
 * @example
 * ```ts
 * const platform = PlatformMemory.layer({ guilds: [], chatUsers: [], gameUsers: [] });
 * ```
 */
export * as PlatformMemory from "./platform_memory.ts";
