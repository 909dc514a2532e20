/**
 * Delays requests to Discord until its rate limits allow them. Discord blocks the tokens and IP addresses of
 * applications that ignore its limits.
 */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Duration, Effect, RcMap, type Scope, Semaphore } from "effect";
import { HttpClient, type HttpClientRequest } from "effect/http";
import { type BeforeAttempt, RequestFailed } from "../../http/mod.ts";
import type { RateLimits, Route } from "./rate_limits.ts";

/** How long a lookup waits for a rate limit. */
const lookupWait = Duration.millis(2_500);

/**
 * Makes each attempt to send a request wait until Discord's rate limits allow it, first come first served for each
 * route and guild. If the limit requires a wait longer than `longestWait`, the attempt fails as if Discord had refused
 * it: with a 429 that says when to retry, or with a 401 if Discord has just refused the token. An attempt that has
 * waited for `longestWait` fails with `busy`.
 */
export const makeRateLimiter = Effect.fnUntraced(function* (
  limits: RateLimits,
  longestWait = lookupWait,
): Effect.fn.Return<BeforeAttempt, never, Scope.Scope> {
  const queues = yield* RcMap.make({ lookup: (_key: string) => Semaphore.make(1) });

  const acquire = Effect.fnUntraced(function* (route: Route) {
    for (;;) {
      const refusal = limits.take(route, yield* monotonicMillis);
      if (refusal === null) return;
      const { status, wait } = refusal;
      if (Duration.isGreaterThan(wait, longestWait)) {
        return yield* new RequestFailed({ reason: "status", status, retryAfter: wait });
      }
      yield* Effect.sleep(wait);
    }
  });

  return (request) => {
    const route = routeOf(request);
    return RcMap.get(queues, `${route.name} ${route.guild}`).pipe(
      Effect.flatMap((queue) => queue.withPermits(1)(acquire(route))),
      Effect.scoped,
      Effect.timeoutOrElse({
        duration: longestWait,
        orElse: () => Effect.fail(new RequestFailed({ reason: "busy" })),
      }),
    );
  };
});

/** Updates the limits from the headers of every response, including responses to retries. */
export const observeRateLimits = (client: HttpClient.HttpClient, limits: RateLimits): HttpClient.HttpClient =>
  HttpClient.transform(
    client,
    Effect.fnUntraced(function* (send, request) {
      const response = yield* send;
      limits.observe(routeOf(request), response.status, response.headers, yield* monotonicMillis);
      if (response.status === 401) yield* Effect.logError("Cannot ask Discord: it refuses the bot token");
      return response;
    }),
  );

/** Discord counts requests by their method and their path without IDs, separately for each guild. */
const routeOf = ({ method, url }: HttpClientRequest.HttpClientRequest): Route => {
  const { pathname } = new URL(url);
  return {
    name: `${method} ${pathname.replaceAll(/\/\d{5,}/g, "/:id")}`,
    guild: /\/guilds\/(\d+)/.exec(pathname)?.[1] ?? "",
  };
};
