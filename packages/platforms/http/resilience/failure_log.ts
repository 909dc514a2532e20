/** Log lines about requests that a platform did not answer. */
import { atMostEvery } from "@accountlink/core/monotonic_millis";
import { Effect } from "effect";
import type { HttpClientRequest } from "effect/http";
import { isOutage, type RequestFailed } from "./request_failed.ts";

/** How long a platform's further failures are left out of the log, in milliseconds. */
const quietFor = 600_000;

/** Logs at most one unanswered attempt in ten minutes. Under a light load, no circuit opens that would log the cause. */
export const tellingFailures = (platform: string) => {
  const seldom = atMostEvery(quietFor);
  return <A>(
    request: HttpClientRequest.HttpClientRequest,
    attempt: Effect.Effect<A, RequestFailed>,
  ): Effect.Effect<A, RequestFailed> =>
    Effect.tapError(attempt, (failure) =>
      isOutage(failure)
        ? seldom(
            Effect.annotateLogs(Effect.logWarning(failure.message), { platform, route: routeOf(request) }),
          )
        : Effect.void,
    );
};

/**
 * The method and the path, in which everything but words is replaced: a path may contain a token. A URL without a scheme
 * begins with the host of a service, which is kept.
 */
const routeOf = ({ method, url }: HttpClientRequest.HttpClientRequest): string => {
  const [path = ""] = url.replace(/^[a-z]+:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return `${method} ${path
    .split("/")
    .map((part, at) => (at === 0 || /^(?:v\d|[a-z][a-z-]{0,23})?$/.test(part) ? part : ":id"))
    .join("/")}`;
};
