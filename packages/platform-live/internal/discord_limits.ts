/**
 * Discord's limits, as far as its answers have told them.
 */
import { Duration } from "effect";
import type { Headers } from "effect/http";

/** What a limit counts by. */
export interface Route {
  /** The method and the path without IDs. */
  readonly name: string;
  /** The guild that is asked about, or empty. */
  readonly guild: string;
}

/** Why a request may not be sent, and for how long. */
export interface Hold {
  readonly status: 401 | 429;
  readonly wait: Duration.Duration;
}

/** So many requests until a time, and then anew. Times are milliseconds of a clock that only goes forward. */
interface Window {
  readonly limit: number;
  left: number;
  resetsAt: number;
}

const second = 1_000;

/** What all requests of a bot share. */
const perSecond = 50;

/** Until its first answer, a route is taken to allow this many requests. */
const unknownLimit = 5;

/** A window whose end is not known yet ends after this long, unless an answer tells it. */
const unknownEnd = second;

/** How long nothing is sent after the token was refused. Asking on would have the address shut out. */
const refusedTokenPause = 60 * second;

/** An address that gets 10,000 refusals in 10 minutes is shut out; it may be shared with other applications. */
const refusals = { limit: 5_000, every: 600 * second };

/** Windows of guilds are forgotten, once over, when there are more than this. */
const keptWindows = 10_000;

export class DiscordLimits {
  /** The name that Discord has for the limit of a route, which other routes may share; null where there is none. */
  readonly #buckets = new Map<string, string | null>();
  /** The last known number of requests that a limit allows, by its name. */
  readonly #sizes = new Map<string, number>();
  readonly #windows = new Map<string, Window>();
  readonly #global: Window = { limit: perSecond, left: 0, resetsAt: 0 };
  readonly #refusals: Window = { limit: refusals.limit, left: 0, resetsAt: 0 };
  #heldUntil = 0;
  #tokenRefusedUntil = 0;

  /** Counts a request that is about to be sent, or says why it may not be. */
  take(route: Route, now: number): Hold | null {
    if (now < this.#tokenRefusedUntil) return hold(401, this.#tokenRefusedUntil - now);
    if (now < this.#heldUntil) return hold(429, this.#heldUntil - now);

    const own = this.#windowOf(route, now);
    const windows = own === null ? [this.#global] : [this.#global, own];
    const wait = Math.max(...[...windows, this.#refusals].map((window) => waitFor(window, now)));
    if (wait > 0) return hold(429, wait);

    for (const window of windows) count(window, now, window === this.#global ? second : unknownEnd);
    return null;
  }

  /** Takes in what an answer says of the limits. */
  learn(route: Route, status: number, headers: Headers.Headers, now: number): void {
    const shared = headers["x-ratelimit-scope"] === "shared";
    if (status === 401) this.#tokenRefusedUntil = now + refusedTokenPause;
    if (status === 401 || status === 403 || (status === 429 && !shared)) {
      count(this.#refusals, now, refusals.every);
    }

    const bucket = headers["x-ratelimit-bucket"];
    if (status === 429) {
      const until = now + retryAfter(headers["retry-after"]);
      // Without the name of a limit it is the one of all requests, or the one of the address.
      if (bucket === undefined) this.#heldUntil = Math.max(this.#heldUntil, until);
      else this.#close(route, bucket, until);
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

    if (this.#windows.size >= keptWindows) this.#forgetOver(now);
    const limit = this.#sizes.get(bucket ?? "") ?? unknownLimit;
    const window = { limit, left: limit, resetsAt: now + unknownEnd };
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
    // Requests that are under way are counted here already, and not yet there.
    const left = known !== undefined && now < known.resetsAt ? Math.min(known.left, remaining) : remaining;
    this.#windows.set(key, { limit, left, resetsAt });
    this.#sizes.set(bucket, limit);
  }

  #close(route: Route, bucket: string, until: number): void {
    const limit = this.#sizes.get(bucket) ?? unknownLimit;
    this.#buckets.set(route.name, bucket);
    this.#windows.set(keyOf(bucket, route), { limit, left: 0, resetsAt: until });
  }

  #forgetOver(now: number): void {
    for (const [key, { resetsAt }] of this.#windows) if (now >= resetsAt) this.#windows.delete(key);
  }
}

const keyOf = (limit: string, { guild }: Route): string => `${limit} ${guild}`;

const hold = (status: Hold["status"], wait: number): Hold => ({ status, wait: Duration.millis(wait) });

/** Milliseconds until the window has room. */
const waitFor = ({ left, resetsAt }: Window, now: number): number =>
  left > 0 ? 0 : Math.max(0, resetsAt - now);

const count = (window: Window, now: number, every: number): void => {
  if (now >= window.resetsAt) {
    window.left = window.limit;
    window.resetsAt = now + every;
  }
  window.left--;
};

/** What a `Retry-After` asks for, in milliseconds. One that cannot be read asks for a second. */
const retryAfter = (header: string | undefined): number => {
  const seconds = Number(header);
  return (seconds > 0 ? seconds : 1) * second;
};
