/**
 * Requests to Discord, held back before Discord has to refuse them: it takes the tokens, and the addresses, of those
 * that do not listen.
 */
import { monotonicMillis } from "@accountlink/core";
import { RequestFailed, type TakeTurn } from "@accountlink/platform-http";
import { Duration, Effect, RcMap, type Scope, Semaphore } from "effect";
import { HttpClient, type HttpClientRequest } from "effect/http";
import type { DiscordLimits, Route } from "./discord_limits.ts";

/** How long a request waits for its turn, at most. One that would wait longer fails at once. */
const longestWait = Duration.millis(2_500);

/**
 * Lets attempts wait until the limits allow them, in the order of their coming. One that cannot be waited for fails as if
 * Discord had refused it: with a 429 and when to come back; or, for a while after the token was refused, with a 401.
 */
export const turnsWithin = Effect.fnUntraced(function* (
  limits: DiscordLimits,
): Effect.fn.Return<TakeTurn, never, Scope.Scope> {
  const queues = yield* RcMap.make({ lookup: (_key: string) => Semaphore.make(1) });

  const waitFor = Effect.fnUntraced(function* (route: Route) {
    for (;;) {
      const hold = limits.take(route, yield* monotonicMillis);
      if (hold === null) return;
      const { status, wait } = hold;
      if (Duration.isGreaterThan(wait, longestWait)) {
        return yield* new RequestFailed({ reason: "status", status, retryAfter: wait });
      }
      yield* Effect.sleep(wait);
    }
  });

  return (request) => {
    const route = routeOf(request);
    return RcMap.get(queues, `${route.name} ${route.guild}`).pipe(
      Effect.flatMap((queue) => queue.withPermits(1)(waitFor(route))),
      Effect.scoped,
      Effect.timeoutOrElse({
        duration: longestWait,
        orElse: () => Effect.fail(new RequestFailed({ reason: "busy" })),
      }),
    );
  };
});

/** Takes in what every answer says of the limits, those of second tries too. */
export const learningLimits = (client: HttpClient.HttpClient, limits: DiscordLimits): HttpClient.HttpClient =>
  HttpClient.transform(
    client,
    Effect.fnUntraced(function* (send, request) {
      const response = yield* send;
      limits.learn(routeOf(request), response.status, response.headers, yield* monotonicMillis);
      if (response.status === 401) yield* Effect.logError("Cannot ask Discord: it refuses the bot token");
      return response;
    }),
  );

/** Discord counts by method and path without its IDs, but for each guild by itself. */
const routeOf = ({ method, url }: HttpClientRequest.HttpClientRequest): Route => {
  const { pathname } = new URL(url);
  return {
    name: `${method} ${pathname.replaceAll(/\/\d{5,}/g, "/:id")}`,
    guild: /\/guilds\/(\d+)/.exec(pathname)?.[1] ?? "",
  };
};
