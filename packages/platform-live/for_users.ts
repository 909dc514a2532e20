/**
 * The live platforms as users know them.
 */
import type { GuildId } from "@accountlink/core";

/** What users call the platforms. */
export const livePlatformNames = { chat: "Discord", game: "Roblox" };

/** Where users find a guild on Discord, or their conversations for null. */
export const liveChatHome = (guildId: GuildId | null): string =>
  `https://discord.com/channels/${guildId ?? "@me"}`;
