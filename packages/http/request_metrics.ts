/**
 * What operators see of requests: counts and durations as metrics, refusals and failures in the log.
 */
import type { PublicError } from "@accountlink/core";
import { Effect, Metric } from "effect";
import type { HttpServerResponse } from "effect/http";
import type { Exchange } from "./exchange.ts";

const requests = Metric.counter("accountlink_http_requests_total", {
  description: "Requests by route, status and code",
  incremental: true,
});

const counterByLabels = new Map<string, typeof requests>();

const counterFor = (route: string, status: number, code: string) => {
  const labels = `${route} ${status} ${code}`;
  let counter = counterByLabels.get(labels);
  if (counter === undefined) {
    counter = Metric.withAttributes(requests, { route, status: String(status), code });
    counterByLabels.set(labels, counter);
  }
  return counter;
};

/** Counts an answer and, when it failed for a reason of ours, logs what happened. */
export const observeAnswer = (
  exchange: Exchange,
  routeId: string,
  response: HttpServerResponse.HttpServerResponse,
  error: PublicError | null,
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const counter = counterFor(routeId, response.status, error?.code ?? "OK");
  const counted = Effect.withFiber<HttpServerResponse.HttpServerResponse>((fiber) => {
    counter.updateUnsafe(1, fiber.context);
    return Effect.succeed(response);
  });
  return error !== null && response.status >= 500
    ? Effect.andThen(logFailure(exchange, routeId, error), counted)
    : counted;
};

const logFailure = (exchange: Exchange, route: string, error: PublicError) =>
  Effect.logError("Request failed").pipe(
    Effect.annotateLogs({
      requestId: exchange.requestId,
      route,
      key: exchange.key?.key.id ?? null,
      error: error._tag,
      operation: "operation" in error ? error.operation : null,
      cause: "cause" in error ? String(error.cause) : null,
    }),
  );
