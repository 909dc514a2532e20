/** Answers of the peers, in the v2 envelope. */
import { randomFillSync } from "node:crypto";
import type { Key } from "./keys.ts";
import type { Answer, KeyWindows, PeerRequest } from "./ports.ts";

/** The version of the interface that all of them are of. */
export const serviceVersion = "2026-01-01";

/** A refusal as the client is told. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object | null;

  constructor(status: number, code: string, message: string, details: object | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const pool = Buffer.alloc(4_096);
let poolUsed = pool.length;

/** A ULID, out of a pool of random bytes. */
const ulid = (now: number): string => {
  if (poolUsed + 16 > pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  let time = "";
  for (let rest = now, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) {
    time = (alphabet[rest % 32] as string) + time;
  }
  let random = "";
  for (let digit = 0; digit < 16; digit++) random += alphabet[(pool[poolUsed++] as number) % 32];
  return time + random;
};

/** A request, and what has become known of it. */
export interface Exchange {
  readonly request: PeerRequest;
  readonly requestId: string;
  readonly now: number;
  key: Key | null;
  limits: KeyWindows | null;
}

/** An exchange whose key was accepted. */
export interface KeyedExchange extends Exchange {
  key: Key;
}

export const openExchange = (request: PeerRequest): Exchange => {
  const now = Date.now();
  return { request, requestId: `req_${ulid(now)}`, now, key: null, limits: null };
};

const noLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null };

const metaOf = ({ requestId, key, limits }: Exchange) => ({
  requestId,
  version: "2.0.0",
  rateLimit:
    key === null || limits === null
      ? noLimit
      : {
          limit: key.limits.perWindow,
          remaining: key.limits.perWindow - limits.second.count,
          resetAt: new Date(limits.second.resetsAt).toISOString(),
          retryAfter: null,
          scope: "api_key",
          bucket: "second",
        },
  tier: key?.tier,
});

const headersOf = ({ requestId, key, limits }: Exchange, status: number): Record<string, string> => {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "service-version": serviceVersion,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  if (key !== null && limits !== null) {
    headers["x-ratelimit-limit"] = String(key.limits.perWindow);
    headers["x-ratelimit-remaining"] = String(key.limits.perWindow - limits.second.count);
    headers["x-ratelimit-reset"] = String(Math.ceil(limits.second.resetsAt / 1000));
    headers["x-ratelimit-limit-day"] = String(key.limits.daily);
    headers["x-ratelimit-remaining-day"] = String(key.limits.daily - limits.day.count);
    headers["ratelimit-policy"] =
      `"second";q=${key.limits.perWindow};w=${key.limits.windowMs / 1000}, "day";q=${key.limits.daily};w=86400`;
    const seconds = Math.ceil((limits.day.resetsAt - Date.now()) / 1000);
    headers["ratelimit"] = `"day";r=${key.limits.daily - limits.day.count};t=${seconds}`;
  }
  if (status === 401) headers["www-authenticate"] = "Bearer";
  return headers;
};

/** What a route found, and what the answer says about it. */
export interface Success {
  readonly data: object;
  readonly bulk?: object;
}

export const succeed = (exchange: Exchange, { data, bulk }: Success): Answer => ({
  status: 200,
  headers: headersOf(exchange, 200),
  body: {
    status: 200,
    data,
    meta: bulk === undefined ? metaOf(exchange) : { ...metaOf(exchange), bulk },
    timestamp: new Date(exchange.now).toISOString(),
  },
});

/** Answers with what was thrown, if that is a refusal. */
export const refuse = (exchange: Exchange, thrown: unknown): Answer => {
  if (!(thrown instanceof Refusal)) throw thrown;
  const { status, code, message, details } = thrown;
  return {
    status,
    headers: headersOf(exchange, status),
    body: {
      status,
      error: { code, message, details },
      meta: metaOf(exchange),
      timestamp: new Date(exchange.now).toISOString(),
    },
  };
};

export const forbidden = (reason: string, message: string) =>
  new Refusal(403, "FORBIDDEN", message, { reason });
