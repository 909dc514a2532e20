/** The sources of what Roblox tells: Open Cloud, which takes a key, and the legacy routes, which need none. */
import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Metric, Result } from "effect";
import { RequestFailed } from "../../http/mod.ts";
import type { CloudAnswer } from "./open_cloud.ts";

/** Answers of the game platform by `question` and `source`. */
const gameAnswers = Metric.counter("accountlink_game_answers_total", {
  description: "Answers of the game platform, by question and source",
  incremental: true,
});

/**
 * Asks Open Cloud, if there is a key, and the legacy route where Open Cloud refuses or does not answer. A refusal of Open
 * Cloud counts if the legacy route is closed, but not if it is down.
 *
 * @param question the label of the metric
 * @internal
 */
export const answerOf = Effect.fnUntraced(function* <A>(
  question: "user" | "groups" | "group" | "group_members" | "item",
  cloud: CloudAnswer<A> | undefined,
  legacy: Effect.Effect<A, PlatformUnavailable>,
): Effect.fn.Return<A, PlatformUnavailable> {
  const count = (source: "open_cloud" | "legacy") =>
    Metric.update(Metric.withAttributes(gameAnswers, { question, source }), 1);

  const said = cloud && Result.getOrUndefined(yield* Effect.result(cloud));
  if (said && Result.isSuccess(said)) {
    yield* count("open_cloud");
    return said.success;
  }
  const known = yield* Effect.result(legacy);
  if (Result.isSuccess(known)) {
    yield* count("legacy");
    return known.success;
  }
  if (said === undefined || !isClosed(known.failure)) return yield* known.failure;
  yield* count("open_cloud");
  return said.failure;
});

/** Whether the platform refuses all questions of a kind. */
const isClosed = ({ cause }: PlatformUnavailable): boolean =>
  cause instanceof RequestFailed && [401, 403, 404, 410].includes(cause.status ?? 0);
