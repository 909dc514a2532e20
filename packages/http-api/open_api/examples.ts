/**
 * Whole answers, as the documentation shows them. They are those of the demo, at a fixed time.
 */
import {
  BadRequest,
  BulkLimitExceeded,
  Conflict,
  type ErrorCode,
  Forbidden,
  InternalError,
  InvalidApiKey,
  InvalidBody,
  InvalidParameter,
  InvalidSession,
  LinkNotFound,
  MissingParameter,
  PlatformUnavailable,
  PremiumRequired,
  type PublicError,
  RateLimited,
  SessionExpired,
  SessionNotFound,
  SharedIpRateLimited,
} from "@accountlink/core/errors";
import { type Route, takesKey, type Wording } from "../route.ts";
import * as EnvelopeV1 from "../v1/envelope.ts";
import * as EnvelopeV2 from "../v2/envelope.ts";

const timestamp = "2026-01-05T12:00:00.000Z";
const endOfSecond = "2026-01-05T12:00:01.000Z";
const midnight = "2026-01-06T00:00:00.000Z";

const daily = { resetsAt: Date.parse(midnight), retryAfter: 3600 };

/** One error for each code and status. */
const errors: ReadonlyArray<PublicError> = [
  new BadRequest({ problem: "unreadable" }),
  new MissingParameter({ parameters: ["guildId"] }),
  InvalidParameter.one("chatId", "expected 5 to 32 digits"),
  new InvalidBody({ problem: "content", reason: "expected a JSON object" }),
  new InvalidBody({ problem: "too_large", reason: "the body is larger than 65536 bytes" }),
  new InvalidBody({ problem: "content_type", reason: "expected the content type application/json" }),
  new BulkLimitExceeded({ limit: 50, received: 51 }),
  new InvalidApiKey({ problem: "missing" }),
  new InvalidSession(),
  new Forbidden({ reason: "bot_not_in_guild" }),
  new PremiumRequired(),
  new LinkNotFound(),
  new SessionNotFound(),
  new SessionExpired(),
  new Conflict({ reason: "idempotency_key_reused" }),
  new RateLimited({ ...daily, bucket: "day", limit: 500 }),
  new SharedIpRateLimited({ ...daily, bucket: "ip_day", limit: 10_000 }),
  new InternalError({}),
  new PlatformUnavailable({ operation: "" }),
];

const isRefusal = (error: PublicError) =>
  error._tag === "RateLimited" || error._tag === "SharedIpRateLimited";

const unknownLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null };
const usualLimit = {
  limit: 10,
  remaining: 9,
  resetAt: endOfSecond,
  retryAfter: null,
  scope: "api_key",
  bucket: "second",
} as const;
const verifyLimit = {
  ...usualLimit,
  limit: 10_000,
  remaining: 9_999,
  resetAt: midnight,
  bucket: "verify_day",
} as const;

const refusingLimit = (error: PublicError): EnvelopeV2.RateLimit => {
  if (!isRefusal(error)) return usualLimit;
  const { limit, retryAfter, bucket } = error;
  const scope = error._tag === "RateLimited" ? "api_key" : "ip";
  return { limit, remaining: 0, resetAt: midnight, retryAfter, scope, bucket };
};

const common = { requestId: "req_01KE72VJ00A1B2C3D4E5F6G7H8", version: EnvelopeV2.version };
const keylessMeta = { ...common, rateLimit: unknownLimit };
const metaWith = (rateLimit: EnvelopeV2.RateLimit) => ({ ...common, rateLimit, tier: "premium" });

const metaOf = (route: Route) => {
  if (!takesKey(route)) return keylessMeta;
  return metaWith(route.traffic === "verify" ? verifyLimit : usualLimit);
};

const counters = { requestsRemaining: 2_499, ipRequestsRemaining: 9_999 };
const verifyCounters = { verifyRequestsRemaining: 9_999, verifyIpRequestsRemaining: 9_999 };
const unknownCounters = { requestsRemaining: null, ipRequestsRemaining: null };

interface Enveloped {
  readonly data: unknown;
  readonly message?: string;
  readonly resolved?: unknown;
  readonly bulk?: unknown;
}

const isEnveloped = (answer: unknown): answer is Enveloped =>
  typeof answer === "object" && answer !== null && "data" in answer;

/** The answer of a success. */
export const successExample = (route: Route): unknown => {
  const { example, status = 200, version = EnvelopeV1.version, traffic } = route;
  const answer = example?.answer;
  if (!isEnveloped(answer)) return answer;
  if (route.generation === "v1") {
    return {
      status,
      ...answer,
      timestamp,
      version: "resolved" in answer ? EnvelopeV1.resolvedVersion : version,
      ...(traffic === "verify" ? verifyCounters : counters),
    };
  }
  const { data, bulk } = answer;
  return { status, data, meta: { ...metaOf(route), ...(bulk === undefined ? {} : { bulk }) }, timestamp };
};

const errorWith = (code: ErrorCode, status?: number): PublicError => {
  const error = errors.find((each) => each.code === code && (status === undefined || each.status === status));
  if (error === undefined) throw new Error(`Cannot show ${code} with status ${status}: no example has it`);
  return error;
};

/**
 * A refusal of v2.
 *
 * @internal
 */
export const errorExample = (status: number, code: ErrorCode): unknown => {
  const error = errorWith(code, status);
  const { message, details } = error;
  const isKeyless = code === "INVALID_API_KEY" || code === "INVALID_SESSION";
  const meta = isKeyless ? keylessMeta : metaWith(refusingLimit(error));
  return { status, error: { code, message, details }, meta, timestamp };
};

/**
 * A refusal of v1.
 *
 * @param wording what a route says in place of the usual message
 *
 * @internal
 */
export const errorExampleV1 = (status: number, code: ErrorCode, wording: Wording | undefined): unknown => {
  const error = errorWith(code, wording === undefined ? status : undefined);
  return {
    status,
    error: wording?.message ?? error.message,
    timestamp,
    version: EnvelopeV1.version,
    ...(code === "INVALID_API_KEY" ? unknownCounters : counters),
    ...(isRefusal(error) ? { retryAfter: error.retryAfter } : {}),
  };
};
