/** Complete sample responses for the OpenAPI document. They contain the data of the demo and a fixed time. */
import type { ErrorCode, PublicError } from "@accountlink/core/errors";
import type { Reason } from "../error_details.ts";
import { errorTable, isRateLimited, statusOf } from "../errors.ts";
import { accessesOf, type Route, type Wording, wordedMessage } from "../route.ts";
import * as EnvelopeV1 from "../v1/envelope.ts";
import * as EnvelopeV2 from "../v2/envelope.ts";
import answers from "./answers.json" with { type: "json" };

const timestamp = "2026-01-05T12:00:00.000Z";
const endOfSecond = "2026-01-05T12:00:01.000Z";
const midnight = "2026-01-06T00:00:00.000Z";

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

const common = { requestId: "req_01KE72VJ00A1B2C3D4E5F6G7H8", version: EnvelopeV2.version };
const keylessMeta = { ...common, rateLimit: EnvelopeV2.unknownLimit };
const metaWith = (rateLimit: EnvelopeV2.RateLimit) => ({ ...common, rateLimit, tier: "premium" });

const metaOf = (route: Route) => {
  if (accessesOf(route).length === 0) return keylessMeta;
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

/** The answers of the demo to the sample requests by operation ID, without what the envelope adds. */
const recorded: Readonly<Record<string, unknown>> = answers;

export const successExample = (route: Route): unknown => {
  const { id, status = 200, version = EnvelopeV1.version, traffic } = route;
  const answer = recorded[id];
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

const errorWith = (code: ErrorCode, status?: number, reason?: Reason): PublicError => {
  const examples: ReadonlyArray<PublicError> = errorTable[code].examples;
  const error = examples.find(
    (each) =>
      (status === undefined || statusOf(each) === status) &&
      (reason === undefined || Object.values(each.details ?? {}).includes(reason)),
  );
  if (error === undefined) throw new Error(`Cannot show ${code} with status ${status}: no example has it`);
  return error;
};

/** Returns an example of a v2 refusal by a route of this traffic. @internal */
export const errorExample = (
  status: number,
  code: ErrorCode,
  traffic: Route["traffic"],
  reason?: Reason,
): unknown => {
  const error = errorWith(code, status, reason);
  const { message, details } = error;
  const isKeyless = code === "INVALID_API_KEY" || code === "INVALID_SESSION";
  const meta = isKeyless
    ? keylessMeta
    : metaWith(EnvelopeV2.refusingLimit(error) ?? (traffic === "verify" ? verifyLimit : usualLimit));
  return { status, error: { code, message, details }, meta, timestamp };
};

/**
 * Returns an example of a v1 refusal.
 *
 * @param wording the route's own message, which replaces the usual one
 * @internal
 */
export const errorExampleV1 = (
  status: number,
  code: ErrorCode,
  wording: Wording | undefined,
  reason?: Reason,
): unknown => {
  const error = errorWith(code, wording === undefined ? status : undefined, reason);
  return {
    status,
    error: (wording && wordedMessage(wording, error)) ?? EnvelopeV1.messageOf(error),
    timestamp,
    version: EnvelopeV1.version,
    ...(code === "INVALID_API_KEY" ? unknownCounters : counters),
    ...(isRateLimited(error) ? { retryAfter: error.retryAfter } : {}),
  };
};
