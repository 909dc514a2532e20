/**
 * The table of errors: what each code means over HTTP. OpenAPI, the client's codes, the tables of `docs/errors.md` and
 * the error pages of the guide are generated from it.
 */
import {
  addressBuckets,
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
  keyBuckets,
  LinkNotFound,
  MalformedRequest,
  MissingParameter,
  PlatformUnavailable,
  PremiumRequired,
  type PublicError,
  RateLimited,
  SessionExpired,
  SessionNotFound,
  SharedIpRateLimited,
  StoreUnavailable,
} from "@accountlink/core/errors";
import { Schema } from "effect";
import { conflictReasons, forbiddenReasons, InvalidParameters, reasonsByCode } from "./error_details.ts";

type ErrorOf<Code extends ErrorCode> = Extract<PublicError, { readonly code: Code }>;

/** The value that decides the status of an error: its `problem`, or the name of its class if it has no `problem`. */
type Variant<E extends PublicError> = E extends { readonly problem: infer Problem extends string }
  ? Problem
  : E["_tag"];

interface ErrorRow<Code extends ErrorCode> {
  readonly when: string;
  /** What a client should do. Links are relative to `docs`. */
  readonly advice: string;
  /**
   * The HTTP status. If the code has several statuses, an object with the status for each `problem` of the error, or
   * for each error class if the errors have no `problem`.
   */
  readonly status: number | { readonly [V in Variant<ErrorOf<Code>>]: number };
  /** The schema of `details` in v2. */
  readonly details: Schema.Top;
  /** One example for each status, message and reason. The documentation shows the first one of each status. */
  readonly examples: ReadonlyArray<ErrorOf<Code>>;
  /** Recreates the error from the details stored under an idempotency key; null if the error is never stored. */
  readonly kept: (new (details: never) => ErrorOf<Code>) | null;
}

const daily = { resetsAt: Date.parse("2026-01-06T00:00:00.000Z"), retryAfter: 3600 };
const soon = { resetsAt: Date.parse("2026-01-05T12:00:02.000Z"), retryAfter: 2 };

const keyRefusals = {
  second: { ...soon, limit: 10 },
  day: { ...daily, limit: 2_500 },
  verify_day: { ...daily, limit: 10_000 },
  session_create: { ...soon, limit: 6 },
  poll_interval: { ...soon, limit: 1 },
  poll_count: { ...soon, limit: 150 },
  event_readers: { ...soon, limit: 16 },
  platform_refusals: { ...soon, limit: 200 },
  sweeps: { ...soon, limit: 4 },
  dashboard_day: { ...daily, limit: 2_000 },
};

/** The status, details and examples of each code. @internal */
export const errorTable = {
  BAD_REQUEST: {
    when: "An unreadable request, an unknown path or a wrong method",
    advice: "Change the request. A head has at most 16 KiB, `Expect` is `100-continue`; a 405 has `Allow`",
    status: {
      unreadable: 400,
      not_found: 404,
      method_not_allowed: 405,
      syntax: 400,
      host: 400,
      authorization: 400,
      timeout: 408,
      expectation: 417,
      head_too_large: 431,
    },
    details: Schema.Null,
    examples: [
      new BadRequest({ problem: "unreadable" }),
      new BadRequest({ problem: "not_found" }),
      new BadRequest({ problem: "method_not_allowed" }),
      new MalformedRequest({ problem: "syntax" }),
      new MalformedRequest({ problem: "host" }),
      new MalformedRequest({ problem: "authorization" }),
      new MalformedRequest({ problem: "timeout" }),
      new MalformedRequest({ problem: "expectation" }),
      new MalformedRequest({ problem: "head_too_large" }),
    ],
    kept: null,
  },
  INVALID_PARAMETER: {
    when: "Values are invalid, the game user does not exist, or `Service-Version` is unknown",
    advice: "Change the request: `details` lists every wrong value",
    status: 400,
    details: InvalidParameters,
    examples: [InvalidParameter.one("chatId", "expected 5 to 32 digits")],
    kept: InvalidParameter,
  },
  MISSING_PARAMETER: {
    when: "Required values are missing; `guildId` is required with a guild-scoped key",
    advice: "Change the request: `details` lists every missing value, in documented order",
    status: 400,
    details: Schema.Struct({ parameters: Schema.Array(Schema.String) }),
    examples: [new MissingParameter({ parameters: ["guildId"] })],
    kept: null,
  },
  INVALID_BODY: {
    when: "The body is not the JSON that the route takes, is over 64 KiB (413) or is of another type (415)",
    advice:
      "Change the request. `Content-Type` is `application/json`, without a content encoding; a list " +
      "has strings only, `confirm` is `true`, chunk extensions have at most 16 KiB",
    status: { content: 400, too_large: 413, content_type: 415 },
    details: Schema.Struct({ reason: Schema.String }),
    examples: [
      new InvalidBody({ problem: "content", reason: "expected a JSON object" }),
      new InvalidBody({ problem: "too_large", reason: "the body is larger than 65536 bytes" }),
      new InvalidBody({ problem: "content_type", reason: "expected the content type application/json" }),
    ],
    kept: null,
  },
  INVALID_API_KEY: {
    when: "The key is missing, unknown, expired, revoked or disabled",
    advice: "Stop: after 30 wrong keys in a minute the service may refuse other keys of the address too",
    status: 401,
    details: Schema.Null,
    examples: [new InvalidApiKey({ problem: "missing" })],
    kept: null,
  },
  INVALID_SESSION: {
    when: "The dashboard session is missing or expired",
    advice: "Have the owner sign in to the dashboard again",
    status: 401,
    details: Schema.Null,
    examples: [new InvalidSession()],
    kept: null,
  },
  FORBIDDEN: {
    when: "The key, or the signed-in user, may not do this",
    advice: "Tell the user the reason, and do what it asks for",
    status: 403,
    details: Schema.Struct({ reason: Schema.Literals(forbiddenReasons) }),
    examples: reasonsByCode.FORBIDDEN.map((reason) => new Forbidden({ reason })),
    kept: Forbidden,
  },
  PREMIUM_REQUIRED: {
    when: "The tier of the key does not include `resolved=true` or alt detection",
    advice: "Send the request without `resolved=true`, or with a Premium key",
    status: 403,
    details: Schema.Null,
    examples: [new PremiumRequired()],
    kept: PremiumRequired,
  },
  LINK_NOT_FOUND: {
    when: "The scope of the key has no such link, or the chat user is not a member of the guild",
    advice: "Ask the chat user to verify, with [a session](sessions.md)",
    status: 404,
    details: Schema.Null,
    examples: [new LinkNotFound()],
    kept: LinkNotFound,
  },
  SESSION_NOT_FOUND: {
    when: "The key has no such session, or its deadline was more than 24 hours ago",
    advice: "Create a new session",
    status: 404,
    details: Schema.Null,
    examples: [new SessionNotFound()],
    kept: SessionNotFound,
  },
  SESSION_EXPIRED: {
    when: "The session has expired, possibly while a long poll waited",
    advice: "Create a new session",
    status: 410,
    details: Schema.Null,
    examples: [new SessionExpired()],
    kept: SessionExpired,
  },
  SHARED_IP_RATE_LIMITED: {
    when: "The client's IP address sent too many requests, counted over all keys",
    advice: "Wait as many seconds as `Retry-After` says",
    status: 429,
    details: Schema.Struct({ bucket: Schema.Literals(addressBuckets) }),
    examples: addressBuckets.map((bucket) => new SharedIpRateLimited({ ...daily, bucket, limit: 10_000 })),
    kept: null,
  },
  RATE_LIMITED: {
    when: "The key sent too many requests",
    advice: "Wait as many seconds as `Retry-After` says",
    status: 429,
    details: Schema.Struct({ bucket: Schema.Literals(keyBuckets) }),
    examples: keyBuckets.map((bucket) => new RateLimited({ bucket, ...keyRefusals[bucket] })),
    kept: null,
  },
  BULK_LIMIT_EXCEEDED: {
    when: "More than 50 inputs (10 for alt detection, 100 for leak reports); duplicates count",
    advice: "Change the request",
    status: 400,
    details: Schema.Struct({ limit: Schema.Int, received: Schema.Int }),
    examples: [new BulkLimitExceeded({ limit: 50, received: 51 })],
    kept: null,
  },
  CONFLICT: {
    when: "The request conflicts with what is stored, as its message says",
    advice: "Do what the reason asks for",
    status: 409,
    details: Schema.Struct({ reason: Schema.Literals(conflictReasons) }),
    examples: reasonsByCode.CONFLICT.map((reason) => new Conflict({ reason })),
    kept: Conflict,
  },
  INTERNAL_ERROR: {
    when: "A store or a platform did not respond (503), or the service has a bug (500)",
    advice:
      "After a 503, try again when `Retry-After` is over, a few times ([writes " +
      "too](api.md#trying-again)). Report `meta.requestId` of a 500",
    status: { InternalError: 500, StoreUnavailable: 503, PlatformUnavailable: 503 },
    details: Schema.Null,
    examples: [
      new InternalError({}),
      new StoreUnavailable({ operation: "" }),
      new PlatformUnavailable({ operation: "" }),
    ],
    kept: null,
  },
} satisfies { readonly [Code in ErrorCode]: ErrorRow<Code> };

/** Every error code, in the order of `errorTable`. @internal */
export const errorCodes = Object.keys(errorTable) as ReadonlyArray<ErrorCode>;

/** Returns whether the error reports that the key or the client address has reached a limit. @internal */
export const isRateLimited = (error: PublicError): error is RateLimited | SharedIpRateLimited =>
  error._tag === "RateLimited" || error._tag === "SharedIpRateLimited";

/**
 * Returns the HTTP status of an error in v2. v1 and the APIs of other services use another one for some errors.
 *
 * @example
 * ```ts
 * import { LinkNotFound, StoreUnavailable } from "@accountlink/core";
 *
 * statusOf(new LinkNotFound()); // 404
 * statusOf(new StoreUnavailable({ operation: "LinkStore.setGame" })); // 503
 * ```
 */
export const statusOf = (error: PublicError): number => {
  const { status } = errorTable[error.code];
  if (typeof status === "number") return status;
  return (status as Record<Variant<PublicError>, number>)["problem" in error ? error.problem : error._tag];
};

/**
 * Returns the HTTP statuses of a code, ascending.
 *
 * @example
 * ```ts
 * statusesOf("INTERNAL_ERROR"); // [500, 503]
 * ```
 */
export const statusesOf = (code: ErrorCode): ReadonlyArray<number> => {
  const { status } = errorTable[code];
  return typeof status === "number"
    ? [status]
    : [...new Set<number>(Object.values(status))].toSorted((one, other) => one - other);
};
