/** The chat and game platforms: ports, profiles and membership. */
export * from "./chat_channels.ts";
export * from "./chat_platform.ts";
export * from "./find_each.ts";
export * from "./game_platform.ts";
export { makeGuildChannels } from "./guild_channels.ts";
export * from "./guild_guard.ts";
export * from "./identity_provider.ts";
export * from "./platform_refusals.ts";
export * from "./profile.ts";
export { Profiles } from "./profiles.ts";
export * from "./role_ranks.ts";
export * from "./usernames.ts";
