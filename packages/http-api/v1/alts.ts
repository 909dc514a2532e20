/**
 * The v1 route of alt detection, which finds accounts that may belong to the same person.
 *
 * @example
 * ```ts
 * AltsV1.detectAlts.requiresOneOf; // ["chatId", "gameId", "ip"]
 * ```
 */
import { ChatId, GameId, GuildId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { address, chatId, gameId, guildId, optional } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { success } from "./envelope.ts";

const AltDetection = Schema.Struct({
  target: Schema.Struct({
    chatIds: Schema.Array(ChatId),
    gameIds: Schema.Array(GameId),
    guildId: Schema.NullOr(GuildId),
  }),
  alts: Schema.Array(Schema.Struct({ chatId: ChatId, gameId: Schema.NullOr(GameId) })).annotate({
    description: "At most 25, most recent first",
  }),
  risk: Schema.Struct({
    score: Schema.Int,
    label: Schema.Literals(["low", "medium", "high", "critical"]),
    breakdown: Schema.Struct({ overall: Schema.Int, alt: Schema.Int, vpn: Schema.Int }),
  }),
  summary: Schema.Struct({ totalAlts: Schema.Int, gameAltIds: Schema.Array(GameId) }),
  warnings: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "Evidence that was unavailable" }),
  ),
}).annotate({ identifier: "AltDetectionV1" });

export const detectAlts = defineRoute({
  id: "detectAlts",
  generation: "v1",
  method: "GET",
  path: "/api/v1/public/detections/alt",
  summary: "Accounts that may belong to the same person",
  description: "At least one of chatId, gameId and ip is needed.",
  parameters: {
    chatId: optional(chatId()),
    gameId: optional(gameId()),
    ip: optional(address),
    guildId: guildId(),
  },
  requiresOneOf: ["chatId", "gameId", "ip"],
  source: "query",
  access: "key",
  keyAccess: ["read"],
  group: "alts",
  tier: "premium_or_global",
  version: "3.4.1",
  success: success(AltDetection),
  example: { chatId: "100002" },
});
