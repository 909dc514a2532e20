/**
 * v2 writes.
 *
 * @example
 * ```ts
 * const writes = [WritesV2.patchGame, WritesV2.patchChat, WritesV2.deleteGame, WritesV2.deleteData];
 * writes.every(({ isIdempotent }) => isIdempotent); // true
 * const needLink = writes.filter(({ codes }) => codes.has("LINK_NOT_FOUND"));
 * needLink.map(({ id }) => id); // ["patchChat", "deleteGame"]
 * ```
 */
import { ChatId, GameId, Pid } from "@accountlink/core/ids";
import { Schema } from "effect";
import { chatId, confirmation, gameId, guildId } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { successOf } from "./envelope.ts";

const write = {
  generation: "v2",
  source: "body",
  access: "key",
  isIdempotent: true,
  group: "write",
} as const;

export const patchChat = defineRoute({
  ...write,
  id: "patchChat",
  method: "PATCH",
  path: "/v2/chat",
  summary: "Move a link to another chat user",
  description: "The new chat user must not have a link, and must be a member of the guild, if one is given.",
  parameters: {
    oldChatId: chatId("ID of the chat user who has the link now"),
    newChatId: chatId("ID of the chat user who gets the link"),
    guildId: guildId(),
  },
  success: successOf({ previousChatId: ChatId, chatId: ChatId, gameId: GameId, updated: Schema.Boolean }),
  example: { oldChatId: "100004", newChatId: "100005" },
  errors: ["LINK_NOT_FOUND"],
  refuses: ["new_user_not_in_guild", "chat_already_linked", "blocked", "game_taken"],
});

export const patchGame = defineRoute({
  ...write,
  id: "patchGame",
  method: "PATCH",
  path: "/v2/game",
  summary: "Link a chat user to a game user",
  description: "The game user must exist. previousGameId is the value that this write replaced.",
  parameters: { chatId: chatId(), gameId: gameId(), guildId: guildId() },
  success: successOf({
    chatId: ChatId,
    gameId: GameId,
    previousGameId: Schema.NullOr(GameId),
    updated: Schema.Boolean,
  }),
  example: { chatId: "100004", gameId: "3" },
  refuses: ["user_not_in_guild", "link_limit", "blocked", "game_taken"],
});

export const deleteGame = defineRoute({
  ...write,
  id: "deleteGame",
  method: "DELETE",
  path: "/v2/game",
  summary: "Remove the game link of a chat user",
  description: "The record of the chat user stays, without a game link.",
  parameters: { chatId: chatId(), guildId: guildId() },
  success: successOf({ chatId: ChatId, removedGameId: GameId, deleted: Schema.Literal(true) }),
  example: { chatId: "100005" },
  errors: ["LINK_NOT_FOUND"],
  refuses: ["user_not_in_guild"],
});

export const deleteData = defineRoute({
  ...write,
  id: "deleteData",
  method: "DELETE",
  path: "/v2/data",
  summary: "Delete all link data of the key's scope",
  description: "Links and sightings are removed for good; unfinished sessions end as failed.",
  parameters: {
    confirm: confirmation("Must be true"),
    guildId: guildId({ globalKeys: "refused" }),
  },
  success: successOf({
    deletedRecords: Schema.Int,
    scope: Schema.Literals(["global", "guild"]),
    pid: Pid,
    collection: Schema.Literal("links"),
  }),
  example: { confirm: true },
});
