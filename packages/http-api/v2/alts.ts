/**
 * v2 alt detection, and the reviews of its matches.
 */
import { ChatId, GameId, GuildId, KeyId } from "@accountlink/core/ids";
import { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { Schema } from "effect";
import {
  address,
  chatId,
  flag,
  gameId,
  guildId,
  ids,
  note,
  optional,
  premiumFlag,
  verdict,
} from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { bulkSuccess, success } from "./envelope.ts";

const AltEvidence = Schema.Struct({
  kind: Schema.Literals(["address", "game", "review"]),
  weight: Schema.Number.annotate({ description: "0 to 1, unrounded" }),
  lastSeenAt: Schema.NullOr(Schema.String).annotate({
    description: "When the candidate was last seen at the address",
  }),
  chatUsers: Schema.NullOr(Schema.Int).annotate({ description: "How many chat users were seen there" }),
  gameId: Schema.NullOr(GameId),
}).annotate({ identifier: "AltEvidence" });

const AltDetection = Schema.Struct({
  target: Schema.Struct({
    chatId: Schema.NullOr(ChatId),
    gameId: Schema.NullOr(GameId),
    guildId: Schema.NullOr(GuildId),
  }),
  matches: Schema.Array(
    Schema.Struct({
      chatId: ChatId,
      gameId: Schema.NullOr(GameId),
      evidence: Schema.optionalKey(
        Schema.Array(AltEvidence).annotate({ description: "With explain; the strongest first" }),
      ),
      resolved: Schema.optionalKey(
        Schema.Struct({ game: Schema.NullOr(GameProfile), chat: Schema.NullOr(ChatProfile) }),
      ),
    }),
  ).annotate({ description: "At most 25, the freshest first" }),
  risk: Schema.Struct({
    score: Schema.Int,
    severity: Schema.Literals(["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
    alt: Schema.optionalKey(Schema.Int),
    vpn: Schema.optionalKey(Schema.Int),
    unlistedWeight: Schema.optionalKey(Schema.Number),
  }),
  summary: Schema.Struct({ matchCount: Schema.Int }),
  resolved: Schema.Boolean,
}).annotate({ identifier: "AltDetection" });

const resolved = premiumFlag("Whether to add profiles of both accounts to each match");
const explain = flag("Whether to add the evidence, from which the score can be computed again");

const signal = "Possibly related accounts are a signal for review, not a proof of identity.";

export const getAlts = defineRoute({
  id: "getAlts",
  generation: "v2",
  method: "GET",
  path: "/v2/alts",
  summary: "Accounts that may belong to the same person",
  description: `At least one of chatId, gameId and ip is needed. ${signal} No address is ever disclosed.`,
  parameters: {
    chatId: optional(chatId()),
    gameId: optional(gameId()),
    ip: optional(address()),
    guildId: guildId(),
    resolved,
    explain,
  },
  requiresOneOf: ["chatId", "gameId", "ip"],
  source: "query",
  access: "key",
  keyAccess: ["read"],
  group: "alts",
  tier: "premium",
  success: success(AltDetection),
  errors: [],
});

export const bulkAlts = defineRoute({
  id: "bulkAlts",
  generation: "v2",
  method: "POST",
  path: "/v2/alts/bulk",
  summary: "Accounts that may belong to the people behind up to 10 game users",
  description: `One result per input, in their order. ${signal} Costs one request.`,
  parameters: {
    gameIds: ids("1 to 10 IDs of game users; duplicates count"),
    guildId: guildId(),
    resolved,
    explain,
  },
  source: "body",
  access: "key",
  keyAccess: ["read"],
  group: "alts",
  tier: "premium_or_custom",
  success: bulkSuccess(Schema.Struct({ gameId: Schema.String }), AltDetection),
  errors: ["BULK_LIMIT_EXCEEDED"],
});

const AltReview = Schema.Struct({
  chatId: ChatId,
  otherChatId: ChatId,
  verdict: Schema.Literals(["different", "same"]),
  note: Schema.NullOr(Schema.String),
  at: Schema.String,
  keyId: KeyId,
}).annotate({ identifier: "AltReview" });

const pair = {
  chatId: chatId("ID of one chat user of the pair"),
  otherChatId: chatId("ID of the other, who is another user"),
};

export const putAltReview = defineRoute({
  id: "putAltReview",
  generation: "v2",
  method: "PUT",
  path: "/v2/alts/reviews",
  summary: "Say whether two chat users are the same person",
  description:
    "It beats the score from the next request on: different is no match any more, same weighs 1. A pair has one review and no order.",
  parameters: { ...pair, verdict: verdict(), note: note(), guildId: guildId() },
  source: "body",
  access: "key",
  isIdempotent: true,
  group: "alts",
  tier: "premium",
  success: success(Schema.Struct({ review: AltReview })),
  errors: [],
});

export const getAltReviews = defineRoute({
  id: "getAltReviews",
  generation: "v2",
  method: "GET",
  path: "/v2/alts/reviews",
  summary: "Reviews of the pairs that a chat user is in",
  parameters: { chatId: chatId(), guildId: guildId() },
  source: "query",
  access: "key",
  keyAccess: ["read"],
  group: "alts",
  tier: "premium",
  success: success(
    Schema.Struct({
      reviews: Schema.Array(AltReview).annotate({ description: "At most 100, newest first" }),
    }),
  ),
  errors: [],
});

export const deleteAltReview = defineRoute({
  id: "deleteAltReview",
  generation: "v2",
  method: "DELETE",
  path: "/v2/alts/reviews",
  summary: "Delete the review of two chat users",
  parameters: { ...pair, guildId: guildId() },
  source: "body",
  access: "key",
  isIdempotent: true,
  group: "alts",
  tier: "premium",
  success: success(Schema.Struct({ chatId: ChatId, otherChatId: ChatId, deleted: Schema.Boolean })),
  errors: [],
});
