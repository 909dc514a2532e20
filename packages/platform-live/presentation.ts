/**
 * How pages present the live platforms to users.
 */
import type { GuildId } from "@accountlink/core";

export const livePlatformNames = { chat: "Discord", game: "Roblox" };

/**
 * The URL of a guild on Discord, or of the user's direct messages for null.
 *
 * @example
 * ```ts
 * import { GuildId } from "@accountlink/core";
 *
 * livePlatformNames.chat; // "Discord"
 * liveChatHome(GuildId.make("700000000000000001")); // "https://discord.com/channels/700000000000000001"
 * ```
 */
export const liveChatHome = (guildId: GuildId | null): string =>
  `https://discord.com/channels/${guildId ?? "@me"}`;
