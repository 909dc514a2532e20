/** The log of a community: what the bot tells in a channel. */
export { GuildLog } from "./guild_log.ts";
export * from "./guild_log_store.ts";
export * from "./log_entry.ts";
export * from "./stored_guild_logs.ts";
