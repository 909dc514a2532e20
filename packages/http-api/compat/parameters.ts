/** Path parameters with the names that other link services use: Discord and Roblox instead of chat and game. */
import { GuildId, idRules } from "@accountlink/core/ids";
import { chatId, gameId, inPath, required } from "../parameter.ts";

export const discordId = inPath(chatId("ID of the Discord user"));
export const robloxId = inPath(gameId("ID of the Roblox user"));

export const pathGuildId = inPath(
  required(
    GuildId,
    `expected ${idRules.guildId}`,
    "ID of the Discord server; a guild-scoped key must name its own",
  ),
);
