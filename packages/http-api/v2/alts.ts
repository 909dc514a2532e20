/**
 * v2 routes that find alts (accounts that may belong to the same person), and store reviews of the found pairs.
 *
 * @example
 * ```ts
 * const lookups = [AltsV2.getAlts, AltsV2.bulkAlts];
 * const reviews = [AltsV2.putAltReview, AltsV2.getAltReviews, AltsV2.deleteAltReview];
 * [...lookups, ...reviews].every(({ codes }) => codes.has("PREMIUM_REQUIRED")); // true
 * reviews.map(({ method }) => method); // ["PUT", "GET", "DELETE"]
 * ```
 */
import { ChatId, GameId, GuildId, KeyId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
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
import { bulkSuccess, reading, success, successOf } from "./envelope.ts";
import { ResolvedProfiles } from "./lookups.ts";

/** @internal */
export const AltEvidence = Schema.Struct({
  kind: Schema.Literals(["review", "game", "device", "address"]),
  weight: Schema.Finite.annotate({ description: "The weight of this evidence, 0 to 1, not rounded" }),
  lastSeenAt: Schema.NullOr(IsoTime).annotate({
    description:
      "When the candidate was last seen in the shared browser or at the shared address; null for other evidence",
  }),
  chatUsers: Schema.NullOr(Schema.Int).annotate({
    description:
      "How many chat users of the scope were seen in this browser or at this address; null for other evidence",
  }),
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
      weight: Schema.optionalKey(
        Schema.Finite.annotate({
          description: "Present only with `explain`: the combined weight of the evidence, 0 to 1",
        }),
      ),
      evidence: Schema.optionalKey(
        Schema.Array(AltEvidence).annotate({
          description: "Present only with `explain`: the evidence, strongest first",
        }),
      ),
      resolved: Schema.optionalKey(ResolvedProfiles),
    }).annotate({ identifier: "AltMatch" }),
  ).annotate({ description: "At most 25, most recent first" }),
  risk: Schema.Struct({
    score: Schema.Int,
    severity: Schema.Literals(["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
    alt: Schema.optionalKey(Schema.Int),
    vpn: Schema.optionalKey(Schema.Int),
    unlistedWeight: Schema.optionalKey(
      Schema.Finite.annotate({
        description:
          "The greatest weight of an unlisted match, if it is greater than the weight of every listed match; otherwise 0",
      }),
    ),
  }),
  summary: Schema.Struct({ matchCount: Schema.Int }),
  resolved: Schema.Boolean,
}).annotate({ identifier: "AltDetection" });

const resolved = premiumFlag("Whether to add profiles of both accounts to each match");
const explain = flag("Whether to add the evidence that the score is computed from");

const signal = "Possibly related accounts are a signal for review, not a proof of identity.";

export const getAlts = defineRoute({
  ...reading,
  id: "getAlts",
  path: "/v2/alts",
  summary: "Accounts that may belong to the same person",
  description: `At least one of chatId, gameId and ip is needed. ${signal} No address is ever disclosed.`,
  parameters: {
    chatId: optional(chatId()),
    gameId: optional(gameId()),
    ip: optional(address),
    guildId: guildId(),
    resolved,
    explain,
  },
  requiresOneOf: ["chatId", "gameId", "ip"],
  group: "alts",
  tier: "premium",
  success: success(AltDetection),
  example: { chatId: "100002", explain: true },
});

export const bulkAlts = defineRoute({
  ...reading,
  id: "bulkAlts",
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
  group: "alts",
  tier: "premium_or_custom",
  success: bulkSuccess(Schema.Struct({ gameId: Schema.String }), AltDetection),
  example: { gameIds: ["2"] },
  errors: ["BULK_LIMIT_EXCEEDED"],
});

/** @internal */
export const AltReview = Schema.Struct({
  chatId: ChatId,
  otherChatId: ChatId,
  verdict: Schema.Literals(["different", "same"]),
  note: Schema.NullOr(Schema.String),
  at: IsoTime,
  keyId: Schema.NullOr(KeyId).annotate({ description: "Null for a review made on the dashboard" }),
}).annotate({ identifier: "AltReview" });

const graceAndHerAlt = { chatId: "100002", otherChatId: "100003" };
const reviewWrite = {
  generation: "v2",
  path: "/v2/alts/reviews",
  source: "body",
  access: "key",
  isIdempotent: true,
  group: "alts",
  tier: "premium",
} as const;

/** @internal */
export const pair = {
  chatId: chatId("ID of one chat user of the pair"),
  otherChatId: chatId("ID of the other chat user of the pair, different from `chatId`"),
};

export const putAltReview = defineRoute({
  ...reviewWrite,
  id: "putAltReview",
  method: "PUT",
  summary: "Record whether two chat users are the same person",
  description:
    "From the next request on it overrides the score: different removes the match, same sets the " +
    "weight 1. A pair has one review, regardless of the order of its users.",
  parameters: { ...pair, verdict, note, guildId: guildId() },
  success: successOf({ review: AltReview }),
  example: { ...graceAndHerAlt, verdict: "same", note: "Said so" },
  refuses: ["review_limit"],
});

export const getAltReviews = defineRoute({
  ...reading,
  id: "getAltReviews",
  path: "/v2/alts/reviews",
  summary: "Reviews of the pairs that a chat user is in",
  description: "A review is listed for both users of its pair.",
  parameters: { chatId: chatId(), guildId: guildId() },
  group: "alts",
  tier: "premium",
  success: successOf({
    reviews: Schema.Array(AltReview).annotate({ description: "At most 100, newest first" }),
  }),
  example: { chatId: "100002" },
});

export const deleteAltReview = defineRoute({
  ...reviewWrite,
  id: "deleteAltReview",
  method: "DELETE",
  summary: "Delete the review of two chat users",
  description: "Without a review the response is a 200 with `deleted: false`.",
  parameters: { ...pair, guildId: guildId() },
  success: successOf({ chatId: ChatId, otherChatId: ChatId, deleted: Schema.Boolean }),
  example: graceAndHerAlt,
});
