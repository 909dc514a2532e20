/**
 * v2 lookups.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const single = [LookupsV2.getChat, LookupsV2.getGame, LookupsV2.getVerification];
 * single.map(({ path }) => path); // ["/v2/chat", "/v2/game", "/v2/verifications/chat"]
 * LookupsV2.listLinks.path; // "/v2/links"
 * const bulk = [LookupsV2.bulkChat, LookupsV2.bulkGame];
 * bulk.map(({ method, path }) => `${method} ${path}`); // ["POST /v2/chat/bulk", "POST /v2/game/bulk"]
 * Schema.is(LookupsV2.ResolvedProfiles)({ game: null, chat: null }); // true
 * ```
 */
import { ChatId, GameId } from "@accountlink/core/ids";
import { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, countUpTo, gameId, guildId, ids, pageCursor, premiumFlag } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { bulkSuccess, reading, success, successOf } from "./envelope.ts";

export const ResolvedProfiles = Schema.Struct({
  game: Schema.NullOr(GameProfile),
  chat: Schema.NullOr(ChatProfile),
}).annotate({
  identifier: "ResolvedProfiles",
  description: "Profiles of both accounts. Each profile is null unless it was requested and is available",
});

const ChatLookup = Schema.Struct({ chatId: ChatId, gameId: GameId, resolved: ResolvedProfiles }).annotate({
  identifier: "ChatLookup",
});

const GameLookup = Schema.Struct({
  gameId: GameId,
  chatIds: Schema.Array(ChatId).annotate({
    description:
      "At most 1,000 chat users, newest link first. With `guildId`, the newest 100 members of that guild among them",
  }),
  count: Schema.Int,
  resolved: Schema.Struct({
    game: Schema.NullOr(GameProfile),
    chat: Schema.NullOr(Schema.Array(Schema.NullOr(ChatProfile))).annotate({
      description: "Profiles of the first 25 chatIds, in the same order",
    }),
  }),
}).annotate({ identifier: "GameLookup" });

const VerificationStatus = Schema.Struct({
  linked: Schema.Boolean,
  chatId: ChatId,
  gameId: Schema.NullOr(GameId),
  linkVersion: Schema.NullOr(Schema.Int),
  linkHash: Schema.NullOr(Schema.String),
  lastVerifiedAt: Schema.NullOr(IsoTime),
  resolved: ResolvedProfiles,
}).annotate({ identifier: "VerificationStatus" });

const resolved = premiumFlag("Whether to add profiles of both accounts");

const lookup = { ...reading, keyAccess: ["read", "verify", "game"], group: "lookup" } as const;

export const getChat = defineRoute({
  ...lookup,
  id: "getChat",
  path: "/v2/chat",
  summary: "Game user of a chat user",
  description:
    "Fails with `LINK_NOT_FOUND` without a link in the scope of the key. With a guild, the chat user must be a member of it.",
  parameters: { chatId: chatId(), guildId: guildId(), resolved },
  success: success(ChatLookup),
  example: { chatId: "100001" },
  errors: ["LINK_NOT_FOUND"],
  refuses: ["user_not_in_guild"],
});

export const getGame = defineRoute({
  ...lookup,
  id: "getGame",
  path: "/v2/game",
  summary: "Chat users of a game user",
  description: "With a guild, only its members are listed.",
  parameters: { gameId: gameId(), guildId: guildId(), resolved },
  success: success(GameLookup),
  example: { gameId: "2" },
  errors: ["LINK_NOT_FOUND"],
});

export const listLinks = defineRoute({
  ...lookup,
  id: "listLinks",
  path: "/v2/links",
  summary: "List all links of the key's scope",
  description:
    "Sorted by chat ID as text. `events` is the cursor of the feed at the first page: to copy all " +
    "links, list all pages and then apply the feed from there.",
  keyAccess: ["read"],
  parameters: {
    limit: countUpTo(1_000, 100),
    cursor: pageCursor("The cursor of the previous page"),
    guildId: guildId({ guildKeys: "optional", globalKeys: "refused" }),
  },
  success: successOf({
    links: Schema.Array(
      Schema.Struct({ chatId: ChatId, gameId: GameId, linkVersion: Schema.Int, lastVerifiedAt: IsoTime }),
    ),
    cursor: Schema.NullOr(Schema.String).annotate({ description: "Null on the last page" }),
    events: Schema.String.annotate({
      description: "The cursor of the event feed at the time of the first page",
    }),
  }),
  example: { limit: 1 },
});

export const getVerification = defineRoute({
  ...lookup,
  id: "getVerification",
  path: "/v2/verifications/chat",
  summary: "Verification status of a chat user",
  description:
    "Without a link the response is a 200 with linked: false. Without an Authorization header the " +
    "response is a redirect (302) into the public verification flow, which keeps every query parameter.",
  parameters: { chatId: chatId(), guildId: guildId(), resolved },
  access: "key_or_redirect",
  success: success(VerificationStatus),
  example: { chatId: "100001" },
  refuses: ["user_not_in_guild"],
});

const bulkLookup = {
  ...reading,
  method: "POST",
  description:
    "One result per input, in the same order. A missing link fails only its own item. Counts as one request.",
  source: "body",
  group: "bulk",
  errors: ["BULK_LIMIT_EXCEEDED"],
} as const;

export const bulkChat = defineRoute({
  ...bulkLookup,
  id: "bulkChat",
  path: "/v2/chat/bulk",
  summary: "Game users of up to 50 chat users",
  parameters: { chatIds: ids("1 to 50 IDs of chat users; duplicates count"), guildId: guildId(), resolved },
  success: bulkSuccess(Schema.Struct({ chatId: Schema.String }), ChatLookup),
  example: { chatIds: ["100001", "100009"] },
});

export const bulkGame = defineRoute({
  ...bulkLookup,
  id: "bulkGame",
  path: "/v2/game/bulk",
  summary: "Chat users of up to 50 game users",
  parameters: { gameIds: ids("1 to 50 IDs of game users; duplicates count"), guildId: guildId(), resolved },
  success: bulkSuccess(Schema.Struct({ gameId: Schema.String }), GameLookup),
  example: { gameIds: ["2", "9"] },
});
