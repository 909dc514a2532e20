/**
 * v2 lookups.
 */
import { ChatId, GameId } from "@accountlink/core/ids";
import { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { Schema } from "effect";
import { chatId, gameId, guildId, ids, premiumFlag } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { bulkSuccess, success } from "./envelope.ts";

const ResolvedPair = Schema.Struct({ game: Schema.NullOr(GameProfile), chat: Schema.NullOr(ChatProfile) });

const ChatLookup = Schema.Struct({ chatId: ChatId, gameId: GameId, resolved: ResolvedPair }).annotate({
  identifier: "ChatLookup",
});

const GameLookup = Schema.Struct({
  gameId: GameId,
  chatIds: Schema.Array(ChatId).annotate({ description: "Newest link first" }),
  count: Schema.Int,
  resolved: Schema.Struct({
    game: Schema.NullOr(GameProfile),
    chat: Schema.NullOr(Schema.Array(Schema.NullOr(ChatProfile))).annotate({
      description: "Profiles of the first 25 of chatIds, in that order",
    }),
  }),
}).annotate({ identifier: "GameLookup" });

const VerificationStatus = Schema.Struct({
  linked: Schema.Boolean,
  chatId: ChatId,
  gameId: Schema.NullOr(GameId),
  linkVersion: Schema.NullOr(Schema.Int),
  linkHash: Schema.NullOr(Schema.String),
  lastVerifiedAt: Schema.NullOr(Schema.String),
  resolved: ResolvedPair,
}).annotate({ identifier: "VerificationStatus" });

const resolved = premiumFlag("Whether to add profiles of both accounts");

export const getChat = defineRoute({
  id: "getChat",
  generation: "v2",
  method: "GET",
  path: "/v2/chat",
  summary: "Game user of a chat user",
  parameters: { chatId: chatId(), guildId: guildId(), resolved },
  source: "query",
  access: "key",
  keyAccess: ["read", "verify"],
  group: "lookup",
  success: success(ChatLookup),
  errors: ["LINK_NOT_FOUND"],
});

export const getGame = defineRoute({
  id: "getGame",
  generation: "v2",
  method: "GET",
  path: "/v2/game",
  summary: "Chat users of a game user",
  description: "With a guild, only its members are listed.",
  parameters: { gameId: gameId(), guildId: guildId(), resolved },
  source: "query",
  access: "key",
  keyAccess: ["read", "verify"],
  group: "lookup",
  success: success(GameLookup),
  errors: ["LINK_NOT_FOUND"],
});

export const getVerification = defineRoute({
  id: "getVerification",
  generation: "v2",
  method: "GET",
  path: "/v2/verifications/chat",
  summary: "Verification status of a chat user",
  description:
    "Not linked is a 200 with linked: false. Without an Authorization header the answer is a redirect (302) into the public verification flow, with every query parameter kept.",
  parameters: { chatId: chatId(), guildId: guildId(), resolved },
  source: "query",
  access: "key_or_redirect",
  keyAccess: ["read", "verify"],
  group: "lookup",
  success: success(VerificationStatus),
  errors: [],
});

export const bulkChat = defineRoute({
  id: "bulkChat",
  generation: "v2",
  method: "POST",
  path: "/v2/chat/bulk",
  summary: "Game users of up to 50 chat users",
  description:
    "One result per input, in their order. A missing link fails its own item only. Costs one request.",
  parameters: { chatIds: ids("1 to 50 IDs of chat users; duplicates count"), guildId: guildId(), resolved },
  source: "body",
  access: "key",
  keyAccess: ["read"],
  group: "bulk",
  success: bulkSuccess(Schema.Struct({ chatId: Schema.String }), ChatLookup),
  errors: ["BULK_LIMIT_EXCEEDED"],
});

export const bulkGame = defineRoute({
  id: "bulkGame",
  generation: "v2",
  method: "POST",
  path: "/v2/game/bulk",
  summary: "Chat users of up to 50 game users",
  description:
    "One result per input, in their order. A missing link fails its own item only. Costs one request.",
  parameters: { gameIds: ids("1 to 50 IDs of game users; duplicates count"), guildId: guildId(), resolved },
  source: "body",
  access: "key",
  keyAccess: ["read"],
  group: "bulk",
  success: bulkSuccess(Schema.Struct({ gameId: Schema.String }), GameLookup),
  errors: ["BULK_LIMIT_EXCEEDED"],
});
