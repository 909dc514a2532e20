/**
 * v1 routes that look up and change links. All parameters are in the query string.
 *
 * @example
 * ```ts
 * const reads = [LinksV1.chatToGame, LinksV1.gameToChat];
 * const writes = [LinksV1.updateChat, LinksV1.updateGame, LinksV1.deleteGameLink, LinksV1.resetDatabase];
 * reads.map(({ path }) => path.split("/").at(-1)); // ["chat-to-game", "game-to-chat"]
 * writes.map(({ method }) => method); // ["PUT", "PUT", "DELETE", "DELETE"]
 * ```
 */
import { ChatId, GameId } from "@accountlink/core/ids";
import { GameProfile } from "@accountlink/core/platforms";
import { Schema } from "effect";
import { chatId, gameId, guildId } from "../parameter.ts";
import { defineRoute, type Wording } from "../route.ts";
import { success } from "./envelope.ts";

const resolved = {
  resolved: Schema.optionalKey(
    Schema.NullOr(GameProfile).annotate({ description: "The game profile; with Premium keys only" }),
  ),
};

const Message = { message: Schema.String };
/** v1 has no status 409. */
const conflict: Wording = {
  status: 400,
  message: {
    chat_already_linked: "New chat ID already has a link",
    blocked: "This user is blocked in this community",
    game_taken: "Another user has this game account",
    link_limit: "The plan allows no more links",
  },
};
const noLink: Wording = { status: 400, message: "No link found for this chat ID" };

const lookup = {
  generation: "v1",
  method: "GET",
  source: "query",
  access: "key",
  keyAccess: ["read", "verify", "game"],
  group: "lookup",
  addsProfiles: true,
} as const;

export const gameToChat = defineRoute({
  ...lookup,
  id: "gameToChat",
  path: "/api/v1/public/game-to-chat",
  summary: "Chat users of a game user",
  description:
    "Without a link the response is a 200 with an empty list. With a guild, only its members are listed.",
  parameters: { gameId: gameId(), guildId: guildId() },
  success: success(Schema.Struct({ gameId: GameId, chatIds: Schema.Array(ChatId) }), resolved),
  example: { gameId: "2" },
});

export const chatToGame = defineRoute({
  ...lookup,
  id: "chatToGame",
  path: "/api/v1/public/chat-to-game",
  summary: "Game user of a chat user",
  description: "With a guild, the chat user must be a member of it.",
  parameters: { chatId: chatId(), guildId: guildId() },
  success: success(Schema.Struct({ chatId: ChatId, gameId: GameId }), resolved),
  example: { chatId: "100001" },
  errors: ["LINK_NOT_FOUND"],
  wordings: { LINK_NOT_FOUND: { status: 404, message: "No game user linked to this chat ID" } },
  refuses: ["user_not_in_guild"],
});

const write = { generation: "v1", source: "query", access: "key", group: "write" } as const;

export const updateChat = defineRoute({
  ...write,
  id: "updateChat",
  method: "PUT",
  path: "/api/v1/link/update-chat",
  summary: "Move a link to another chat user",
  description: "The new chat user must not have a link, and must be a member of the guild, if one is given.",
  parameters: {
    oldChatId: chatId("ID of the chat user who has the link now"),
    newChatId: chatId("ID of the chat user who gets the link"),
    guildId: guildId(),
  },
  success: success(Schema.Struct({ chatId: ChatId, gameId: GameId }), Message),
  example: { oldChatId: "100004", newChatId: "100005" },
  errors: ["LINK_NOT_FOUND"],
  wordings: { LINK_NOT_FOUND: noLink, CONFLICT: conflict },
  refuses: ["new_user_not_in_guild", "chat_already_linked", "blocked", "game_taken"],
});

export const updateGame = defineRoute({
  ...write,
  id: "updateGame",
  method: "PUT",
  path: "/api/v1/link/update-game",
  summary: "Link a chat user to a game user",
  description: "The game user must exist.",
  parameters: { chatId: chatId(), newGameId: gameId(), guildId: guildId() },
  success: success(Schema.Struct({ chatId: ChatId, gameId: GameId }), Message),
  example: { chatId: "100004", newGameId: "3" },
  wordings: { CONFLICT: conflict },
  refuses: ["user_not_in_guild", "link_limit", "blocked", "game_taken"],
});

export const deleteGameLink = defineRoute({
  ...write,
  id: "deleteGameLink",
  method: "DELETE",
  path: "/api/v1/link/delete-game",
  summary: "Remove the game link of a chat user",
  description: "The chat user need not be a member of the guild.",
  parameters: { chatId: chatId(), guildId: guildId() },
  success: success(Schema.Struct({ chatId: ChatId, removedGameId: GameId }), Message),
  example: { chatId: "100005" },
  errors: ["LINK_NOT_FOUND"],
  wordings: { LINK_NOT_FOUND: noLink },
});

export const resetDatabase = defineRoute({
  ...write,
  id: "resetDatabase",
  method: "DELETE",
  path: "/api/v1/database/reset",
  summary: "Delete all link data of the key's scope",
  description: "A guild-scoped key resets its own guild.",
  parameters: { guildId: guildId({ guildKeys: "optional", globalKeys: "refused" }) },
  success: success(Schema.Struct({ deletedRecords: Schema.Int }), Message),
  example: {},
});
