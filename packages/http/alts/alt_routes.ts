import { AltDetection, AltReviews, type GameId } from "@accountlink/core";
import { parseAddress } from "@accountlink/core/addresses";
import {
  type AltEvidence,
  type AltMatch,
  type AltOptions,
  type AltQuery,
  type AltReport,
  type AltReview,
  type AltReviewRemoved,
  maxBulkAltInputs,
  pairProblems,
  warningText,
} from "@accountlink/core/alts";
import { type BulkItem, checkBulkLimit } from "@accountlink/core/links";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { AltsV1, AltsV2 } from "@accountlink/http-api";
import { Effect, Option, Result } from "effect";
import { bulkAnswer } from "../links/bulk_answer.ts";
import { type KeyedInput, type Pipeline, targetOf } from "../pipeline/pipeline.ts";

export const altRoutes = Effect.fnUntraced(function* ({ keyed, write }: Pipeline) {
  const detection = yield* AltDetection;
  const reviews = yield* AltReviews;

  return [
    keyed(AltsV2.getAlts, ({ key, values }) =>
      Effect.map(detection.detect(key.scope, queryOf(values), optionsV2(values)), (report) => ({
        data: toV2(report, values),
      })),
    ),
    keyed(
      AltsV2.bulkAlts,
      ({ key, values }) =>
        Effect.map(detection.detectEach(key.scope, values.gameIds, optionsV2(values)), (items) =>
          bulkAnswer(
            items.map(
              ({ input, result }): BulkItem<ReturnType<typeof toV2>> => ({
                input,
                result: Result.map(result, (report) => toV2(report, values)),
              }),
            ),
            (gameId) => ({ gameId }),
            values.resolved,
            maxBulkAltInputs,
          ),
        ),
      { validate: ({ gameIds }) => checkBulkLimit(gameIds, maxBulkAltInputs) },
    ),
    write(
      AltsV2.putAltReview,
      (review: AltReview) => ({ data: { review: toReview(review) } }),
      (input) => reviews.set(targetOf(input), { ...input.values, keyId: input.key.id }),
      { findProblems: pairProblems },
    ),
    keyed(AltsV2.getAltReviews, (input) =>
      Effect.map(reviews.list(targetOf(input), input.values.chatId), (found) => ({
        data: { reviews: found.map(toReview) },
      })),
    ),
    write(
      AltsV2.deleteAltReview,
      (data: AltReviewRemoved) => ({ data }),
      (input) => reviews.remove(targetOf(input), input.values),
      { findProblems: pairProblems },
    ),
    keyed(AltsV1.detectAlts, ({ key, values }) =>
      Effect.map(detection.detect(key.scope, queryOf(values), optionsV1(values)), (report) => ({
        data: toV1(report),
      })),
    ),
  ];
});

type Values = KeyedInput<typeof AltsV2.getAlts.parameters>["values"];

const queryOf = ({ chatId, gameId, ip }: Pick<Values, "chatId" | "gameId" | "ip">): AltQuery => ({
  chatId,
  gameId,
  // `parameterReader` has already validated the address.
  address: ip === null ? null : Option.getOrThrow(parseAddress(ip)),
});

const optionsV2 = ({ guildId, resolved }: Pick<Values, "guildId" | "resolved">): AltOptions => ({
  guildId,
  resolved,
  unknownMembers: "refuse",
});

const optionsV1 = ({ guildId }: Pick<Values, "guildId">): AltOptions => ({
  guildId,
  resolved: false,
  unknownMembers: "leave out",
});

const toV2 = (
  { target, matches, risk }: AltReport,
  { explain, resolved }: Pick<Values, "explain" | "resolved">,
) => {
  const { score, severity } = risk;
  return {
    target,
    matches: matches.map((match) => toMatch(match, explain)),
    risk: explain ? risk : { score, severity },
    summary: { matchCount: matches.length },
    resolved,
  };
};

const toMatch = ({ chatId, gameId, weight, evidence, resolved }: AltMatch, explain: boolean) => ({
  chatId,
  gameId,
  ...(explain ? { weight, evidence: evidence.map(toEvidence) } : {}),
  ...(resolved === null ? {} : { resolved }),
});

export const toEvidence = (evidence: AltEvidence) => ({
  kind: evidence.kind,
  weight: evidence.weight,
  lastSeenAt: "lastSeenAt" in evidence ? formatTimestamp(evidence.lastSeenAt) : null,
  chatUsers: "chatUsers" in evidence ? evidence.chatUsers : null,
  gameId: evidence.kind === "game" ? evidence.gameId : null,
});

export const toReview = ({ at, ...review }: AltReview) => ({ ...review, at: formatTimestamp(at) });

const toV1 = ({ target, seeds, games, matches, risk, warnings }: AltReport) => {
  const gameAltIds = matches.flatMap(
    ({ gameId }): ReadonlyArray<GameId> => (gameId === null ? [] : [gameId]),
  );
  return {
    target: { chatIds: seeds, gameIds: games, guildId: target.guildId },
    alts: matches.map(({ chatId, gameId }) => ({ chatId, gameId })),
    risk: {
      score: risk.score,
      label: labels[risk.severity],
      breakdown: { overall: risk.score, alt: risk.alt, vpn: risk.vpn },
    },
    summary: { totalAlts: matches.length, gameAltIds: [...new Set(gameAltIds)] },
    ...(warnings.length === 0 ? {} : { warnings: warnings.map(warningText) }),
  };
};

const labels = { LOW: "low", MEDIUM: "medium", HIGH: "high", CRITICAL: "critical" } as const;
