/**
 * Delays requests to Discord until its rate limits allow them. Discord blocks the tokens and IP addresses of
 * applications that ignore its limits.
 */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { ChargedAccount, Urgency } from "@accountlink/core/platforms";
import { operatorAccount, TurnAccount, Turns, turnOwner } from "@accountlink/core/turns";
import { Duration, Effect, Option, RcMap, Schema, type Scope } from "effect";
import { type Headers, HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http";
import { type BeforeAttempt, failBusy, RequestFailed } from "../../http/mod.ts";

/** How long a lookup waits for a rate limit. */
const lookupWait = Duration.millis(2_500);

/** How many requests of one account wait for the same limit. */
const mostWaiting = 100;

/**
 * Makes each attempt to send a request wait until Discord's rate limits allow it. Accounts take turns at each route and
 * guild or channel. If the limit requires a wait longer than `longestWait`, the attempt fails as if Discord had refused
 * it: with a 429 that says when to retry, or with a 401 if Discord has just refused the token. An attempt that has
 * waited for `longestWait` fails with `busy`.
 */
export const makeRateLimiter = Effect.fnUntraced(function* (
  limits: RateLimits,
  longestWait = lookupWait,
): Effect.fn.Return<BeforeAttempt, never, Scope.Scope> {
  const queues = yield* RcMap.make({
    lookup: (_key: string) =>
      Effect.sync(() => new Turns({ resource: "platform_chat_limits", places: 1, mostWaiting })),
  });

  const acquire = Effect.fnUntraced(function* (route: Route) {
    const asker = {
      account: yield* TurnAccount,
      isCharged: yield* isAccountCharged,
      isBackground: (yield* Urgency) === "background",
    };
    for (;;) {
      const refusal = limits.take(route, yield* monotonicMillis, asker);
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
    return Effect.all([RcMap.get(queues, `${route.name} ${route.place}`), turnOwner]).pipe(
      Effect.flatMap(([queue, owner]) =>
        queue.stepWithin(owner, Duration.toMillis(longestWait), acquire(route)),
      ),
      Effect.catchTag("TurnRefused", failBusy),
      Effect.scoped,
      Effect.timeoutOrElse({ duration: longestWait, orElse: failBusy }),
    );
  };
});

/** Updates the limits from every response, including responses to retries. */
export const observeRateLimits = (client: HttpClient.HttpClient, limits: RateLimits): HttpClient.HttpClient =>
  HttpClient.transform(
    client,
    Effect.fnUntraced(function* (send, request) {
      const response = yield* send;
      const { status, headers } = response;
      // Discord's own answers are short JSON; pages of others are left to the reader with its bounds.
      const isRead = status === 429 && headers["content-type"]?.startsWith("application/json") === true;
      const body = isRead ? yield* response.text : "";
      const isForAll = status === 429 && isGlobal(headers, body);
      const now = yield* monotonicMillis;
      limits.observe(routeOf(request), { status, headers, isForAll }, now, yield* isAccountCharged);
      if (status === 401) yield* Effect.logError("Cannot ask Discord: it refuses the bot token");
      return isRead ? HttpClientResponse.fromWeb(request, new Response(body, { status, headers })) : response;
    }),
  );

/**
 * Returns whether a 429 is for all requests: of the bot, as it says itself, or of the IP address, which is not in
 * Discord's format. Any other 429 is for its route alone, also without a bucket, such as the 429 of a channel's slow mode.
 */
export const isGlobal = (headers: Headers.Headers, body: string): boolean => {
  const scope = headers["x-ratelimit-scope"];
  if (scope === "global" || headers["x-ratelimit-global"] === "true") return true;
  const told = Option.getOrNull(limitedBody(body));
  if (told !== null) return told.global === true;
  return scope === undefined && headers["x-ratelimit-bucket"] === undefined;
};

const limitedBody = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({ message: Schema.String, global: Schema.optionalKey(Schema.Boolean) }),
  ),
);

const isAccountCharged = Effect.map(ChargedAccount, (account) => account !== null);

/** Discord counts requests by their method and their path without IDs, separately for each guild and channel. */
const routeOf = ({ method, url }: HttpClientRequest.HttpClientRequest): Route => {
  const { pathname } = new URL(url);
  return {
    name: `${method} ${pathname.replaceAll(/\/\d{5,}/g, "/:id")}`,
    place: /\/(?:guilds|channels)\/(\d+)/.exec(pathname)?.[1] ?? "",
  };
};

/** The unit by which Discord counts requests. */
export interface Route {
  /** The method and the path without IDs. */
  readonly name: string;
  /** The ID of the guild or channel in the path, or empty. */
  readonly place: string;
}

interface Observed {
  readonly status: number;
  readonly headers: Headers.Headers;
  readonly isForAll: boolean;
}

interface Asker {
  readonly account: string;
  /** Whether refusals are charged to an account. If not, they count for all requests without an account. */
  readonly isCharged: boolean;
  /** Whether nobody waits for the request. Such requests take at most half of what all requests share. */
  readonly isBackground: boolean;
}

const anybody: Asker = { account: operatorAccount, isCharged: false, isBackground: false };

/** Why a request must not be sent, and for how long. */
interface LimitAnswer {
  readonly status: 401 | 429;
  readonly wait: Duration.Duration;
}

/** A fixed window. Times are milliseconds of the monotonic clock. */
interface Window {
  readonly limit: number;
  left: number;
  resetsAt: number;
  /** How many requests each account has sent in this window. */
  byAccount?: Map<string, number> | undefined;
}

const second = 1_000;

/** The limit that all requests of a bot share. */
const perSecond = 50;

/** How many requests a route is assumed to allow before its first response. */
const unknownLimit = 5;

/** The assumed length of a window until a response states it. */
const unknownLength = second;

/** The pause after Discord refused the token. Further requests would get the IP address blocked. */
const refusedTokenPause = 60 * second;

/**
 * Discord blocks an IP address after 10,000 refusals in 10 minutes. Half of them are left for accounts, which are
 * charged for their own, and for other applications on the same address.
 */
const refusals = { limit: 5_000, every: 600 * second };

/** Each new window checks this many others, and removes the expired ones. */
const sweepStep = 2;

export class RateLimits {
  /** Discord's bucket of each route; null for a route without a limit. Several routes may share a bucket. */
  readonly #buckets = new Map<string, string | null>();
  /** The last known number of requests that a bucket allows. */
  readonly #sizes = new Map<string, number>();
  readonly #windows = new Map<string, Window>();
  #sweep = this.#windows.entries();
  readonly #global: Window = { limit: perSecond, left: 0, resetsAt: 0 };
  readonly #refusals: Window = { limit: refusals.limit, left: 0, resetsAt: 0 };
  #blockedUntil = 0;
  #tokenRefusedUntil = 0;

  /**
   * Counts a request that is about to be sent, or returns why it must not be sent.
   */
  take(route: Route, now: number, { account, isCharged, isBackground }: Asker = anybody): LimitAnswer | null {
    if (now < this.#tokenRefusedUntil) return refuse(401, this.#tokenRefusedUntil - now);
    if (now < this.#blockedUntil) return refuse(429, this.#blockedUntil - now);

    const own = this.#windowOf(route, now);
    const windows = own === null ? [this.#global] : [this.#global, own];
    const all = isCharged ? windows : [...windows, this.#refusals];
    // One account alone uses the limits of its guild or channel; accounts share all others.
    const shared = account === operatorAccount ? [] : route.place === "" ? windows : [this.#global];
    const wait = Math.max(
      ...all.map((window) => waitFor(window, now)),
      ...shared.map((window) => waitForShare(window, now, account)),
      isBackground ? waitFor(this.#global, now, perSecond / 2) : 0,
    );
    if (wait > 0) return refuse(429, wait);

    for (const window of windows) count(window, now, window === this.#global ? second : unknownLength);
    for (const window of shared) {
      window.byAccount ??= new Map();
      window.byAccount.set(account, (window.byAccount.get(account) ?? 0) + 1);
    }
    return null;
  }

  /** @param response `isForAll` says that a 429 is not for the route alone */
  observe(route: Route, { status, headers, isForAll }: Observed, now: number, isCharged = false): void {
    const shared = headers["x-ratelimit-scope"] === "shared";
    if (status === 401) this.#tokenRefusedUntil = now + refusedTokenPause;
    if (!isCharged && (status === 401 || status === 403 || (status === 429 && !shared))) {
      count(this.#refusals, now, refusals.every);
    }

    const bucket = headers["x-ratelimit-bucket"];
    if (status === 429) {
      const until = now + retryAfter(headers["retry-after"]);
      if (isForAll) this.#blockedUntil = Math.max(this.#blockedUntil, until);
      else this.#close(route, bucket ?? this.#buckets.get(route.name) ?? route.name, until);
      return;
    }
    if (status >= 500) return;
    this.#buckets.set(route.name, bucket ?? null);
    if (bucket !== undefined) this.#update(route, bucket, headers, now);
  }

  #windowOf(route: Route, now: number): Window | null {
    const bucket = this.#buckets.get(route.name);
    if (bucket === null) return null;
    const key = keyOf(bucket ?? route.name, route);
    const known = this.#windows.get(key);
    if (known !== undefined) return known;

    this.#removeSomeExpired(now);
    const limit = this.#sizes.get(bucket ?? "") ?? unknownLimit;
    const window = { limit, left: limit, resetsAt: now + unknownLength };
    this.#windows.set(key, window);
    return window;
  }

  #update(route: Route, bucket: string, headers: Headers.Headers, now: number): void {
    const limit = Number(headers["x-ratelimit-limit"]);
    const remaining = Number(headers["x-ratelimit-remaining"]);
    const resetsAt = now + Number(headers["x-ratelimit-reset-after"]) * second;
    if (Number.isNaN(limit + remaining + resetsAt)) return;

    const key = keyOf(bucket, route);
    const known = this.#windows.get(key) ?? this.#windows.get(keyOf(route.name, route));
    // Use the lower number: Discord may not have counted all requests in flight yet, but this process has.
    const left = known !== undefined && now < known.resetsAt ? Math.min(known.left, remaining) : remaining;
    const byAccount = known !== undefined && now < known.resetsAt ? known.byAccount : undefined;
    this.#windows.set(key, { limit, left, resetsAt, byAccount });
    this.#sizes.set(bucket, limit);
  }

  #close(route: Route, bucket: string, until: number): void {
    const limit = this.#sizes.get(bucket) ?? unknownLimit;
    this.#buckets.set(route.name, bucket);
    this.#windows.set(keyOf(bucket, route), { limit, left: 0, resetsAt: until });
  }

  #removeSomeExpired(now: number): void {
    for (let step = 0; step < sweepStep; step++) {
      const { done, value } = this.#sweep.next();
      if (done) this.#sweep = this.#windows.entries();
      else if (now >= value[1].resetsAt) this.#windows.delete(value[0]);
    }
  }
}

const keyOf = (limit: string, { place }: Route): string => `${limit} ${place}`;

const refuse = (status: LimitAnswer["status"], wait: number): LimitAnswer => ({
  status,
  wait: Duration.millis(wait),
});

/** @param reserve how many requests are left for others */
const waitFor = ({ left, resetsAt }: Window, now: number, reserve = 0): number =>
  left > reserve ? 0 : Math.max(0, resetsAt - now);

/** One account takes at most three quarters of a limit, so that others need not wait until it resets. */
const waitForShare = ({ limit, resetsAt, byAccount }: Window, now: number, account: string): number =>
  (byAccount?.get(account) ?? 0) < Math.ceil(limit * 0.75) ? 0 : Math.max(0, resetsAt - now);

const count = (window: Window, now: number, every: number): void => {
  if (now >= window.resetsAt) {
    window.left = window.limit;
    window.byAccount = undefined;
    window.resetsAt = now + every;
  }
  window.left--;
};

/** Returns a `Retry-After` header in milliseconds, or one second if the header is missing or invalid. */
const retryAfter = (header: string | undefined): number => {
  const seconds = Number(header);
  return (seconds > 0 ? seconds : 1) * second;
};
