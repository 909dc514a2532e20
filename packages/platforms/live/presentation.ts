/** How pages present the live platforms to users. */
import type { ChatId, GameId, GuildId } from "@accountlink/core";
import type { BotRights } from "@accountlink/core/platforms";

/** @internal */
export const livePlatformNames = { chat: "Discord", game: "Roblox" };

/** The URL of a guild on Discord; without a guild, the URL of the user's direct messages. @internal */
export const liveChatHome = (guildId: GuildId | null): string =>
  `https://discord.com/channels/${guildId ?? "@me"}`;

/** The URL of a user's profile on Discord. @internal */
export const liveChatPage = (chatId: ChatId): string => `https://discord.com/users/${chatId}`;

/** The URL of a user's profile on Roblox. @internal */
export const liveGamePage = (gameId: GameId): string => `https://www.roblox.com/users/${gameId}/profile`;

/** Discord's permission bits to manage roles and nicknames, and to see channels and post in them. */
const [roleRights, postRights] = [(1 << 28) | (1 << 27), (1 << 10) | (1 << 11)];

const permissionsOf: Readonly<Record<BotRights, number>> = {
  none: 0,
  roles: roleRights,
  posts: postRights,
  roles_and_posts: roleRights | postRights,
};

/**
 * The URL where an owner adds the bot to a guild.
 *
 * @param applicationId the ID of the application on Discord, which is also the client ID of its sign-in
 *
 * @internal
 */
export const liveBotInvite =
  (applicationId: string) =>
  (guildId: GuildId | null, rights: BotRights): string => {
    const permissions = String(permissionsOf[rights]);
    const scope = "bot applications.commands";
    const query = new URLSearchParams({ client_id: applicationId, scope, permissions });
    if (guildId !== null) {
      query.set("guild_id", guildId);
      query.set("disable_guild_select", "true");
    }
    return `https://discord.com/oauth2/authorize?${query}`;
  };
