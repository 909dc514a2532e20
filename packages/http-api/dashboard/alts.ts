/**
 * Dashboard routes for new links whose users are likely alts of others, and for reviews of pairs.
 *
 * @example
 * ```ts
 * const reviews = [DashboardAlts.getReviews, DashboardAlts.putReview, DashboardAlts.deleteReview];
 * [DashboardAlts.getAltQueue, ...reviews].every(({ codes }) => codes.has("PREMIUM_REQUIRED")); // true
 * ```
 */
import { ChatId, GameId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, note, verdict } from "../parameter.ts";
import { AltEvidence, AltReview, pair } from "../v2/alts.ts";
import { managed, nextOf, Place, pageLimit, pid } from "./signed_in.ts";

const examplePair = { chatId: "100003", otherChatId: "100002" };

export const getAltQueue = managed("moderator", "GET", "/alts", {
  id: "getAltQueue",
  summary: "Links of the last 7 days whose users are likely somebody else who is linked, newest first",
  parameters: { pid, limit: pageLimit, cursor: nextOf(Place) },
  tier: "premium",
  data: {
    links: Schema.Array(
      Schema.Struct({
        chatId: ChatId,
        gameId: GameId,
        at: IsoTime,
        matches: Schema.Array(
          Schema.Struct({
            chatId: ChatId,
            score: Schema.Int,
            severity: Schema.Literals(["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
            evidence: Schema.Array(AltEvidence),
            verdict: Schema.NullOr(Schema.Literal("same")),
          }),
        ).annotate({ description: "Strongest first, as counted when the link was made" }),
      }),
    ),
    next: Schema.NullOr(Schema.String),
  },
});

export const getReviews = managed("moderator", "GET", "/alts/reviews", {
  id: "getOwnedAltReviews",
  summary: "Reviews of the pairs that a chat user is in, newest first",
  parameters: { pid, chatId: chatId() },
  tier: "premium",
  example: { chatId: "100003" },
  data: { reviews: Schema.Array(AltReview) },
  refuses: ["bot_not_in_guild"],
});

export const putReview = managed("moderator", "PUT", "/alts/reviews", {
  id: "putOwnedAltReview",
  summary: "Record whether two chat users are the same person; nobody but an owner reviews themself",
  parameters: { pid, ...pair, verdict, note },
  tier: "premium",
  example: { ...examplePair, verdict: "same", note: "Both said so" },
  data: { review: AltReview },
  refuses: ["bot_not_in_guild", "review_limit"],
});

export const deleteReview = managed("moderator", "DELETE", "/alts/reviews", {
  id: "deleteOwnedAltReview",
  summary: "Delete the review of two chat users",
  parameters: { pid, ...pair },
  source: "body",
  tier: "premium",
  example: examplePair,
  data: { chatId: ChatId, otherChatId: ChatId, deleted: Schema.Boolean },
  refuses: ["bot_not_in_guild"],
});
