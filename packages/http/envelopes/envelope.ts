/** The input that every envelope receives, and the headers that all envelopes share. */
import type { PublicError } from "@accountlink/core";
import type { KeyBucket } from "@accountlink/core/errors";
import { type Allowance, type LimitReport, type Quota, secondsUntil } from "@accountlink/core/limits";
import { dayMs, formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import { isRateLimited } from "@accountlink/http-api";
import { HttpResponse } from "../http_app.ts";
import type { RequestContext } from "../request_context.ts";

export interface Success {
  /** The status of the response; 200 when left out. */
  readonly status?: 200 | 201;
  readonly data: unknown;
  /** Only in v2 bulk lookups: the field `meta.bulk` of the response. */
  readonly bulk?: { readonly uniqueInputs: number; readonly maxInputs: number };
  /** v1 writes only. */
  readonly message?: string;
  /** Only in v1 lookups with a Premium key: the profile of the game user. */
  readonly resolved?: unknown;
}

/**
 * The return type of a handler: the fields that the envelope does not fill, or the whole response on routes without an
 * envelope.
 */
export type SuccessOf<Answer> = Answer extends { readonly status: infer Status; readonly data: unknown }
  ? Success &
      Pick<Answer, keyof Answer & ("data" | "message" | "resolved")> &
      (Status extends 200 ? {} : { readonly status: Status }) &
      (Answer extends { readonly meta: infer Meta } ? Pick<Meta, keyof Meta & "bulk"> : {})
  : HttpResponse;

/** Writes the responses of one generation of the API. */
export interface Envelope {
  readonly success: (context: RequestContext, success: Success) => HttpResponse;
  readonly failure: (context: RequestContext, error: PublicError) => HttpResponse;
}

/** Seconds until a retry can succeed, if known. */
const retryAfterOf = (error: PublicError): number | null => {
  if (isRateLimited(error)) return error.retryAfter;
  return error._tag === "StoreUnavailable" || error._tag === "PlatformUnavailable" ? 1 : null;
};

const expiryNoticeMs = 7 * dayMs;

/** Returns the value of `RateLimit-Policy`: the windows that count requests together with this bucket. */
const policyOf = (bucket: Allowance["bucket"], { perWindow, windowMs, daily, verifyDaily }: Quota): string =>
  bucket === "verify_day"
    ? windowText("verify_day", verifyDaily, dayMs)
    : [windowText("second", perWindow, windowMs), windowText("day", daily, dayMs)].filter(Boolean).join(", ");

const windowText = (bucket: KeyBucket, limit: number | null, windowMs: number): string =>
  limit === null ? "" : `"${bucket}";q=${limit};w=${Math.ceil(windowMs / 1_000)}`;

/**
 * Returns the window with fewer requests left. If both windows have equally many left, it returns the window that
 * resets later, because that window refuses requests for longer.
 */
const closestToItsEnd = ({ window, day }: LimitReport): Allowance | null => {
  if (window === null || day === null) return window ?? day;
  const isDay =
    day.remaining === window.remaining ? day.resetsAt > window.resetsAt : day.remaining < window.remaining;
  return isDay ? day : window;
};

const limitHeaders = (
  headers: Record<string, string>,
  report: LimitReport,
  quota: Quota,
  now: Millis,
): void => {
  const { window, day } = report;
  if (window !== null) {
    headers["x-ratelimit-limit"] = String(window.limit);
    headers["x-ratelimit-remaining"] = String(window.remaining);
    headers["x-ratelimit-reset"] = unixSeconds(window);
  }
  if (day !== null) {
    headers["x-ratelimit-limit-day"] = String(day.limit);
    headers["x-ratelimit-remaining-day"] = String(day.remaining);
  }
  const closest = closestToItsEnd(report);
  if (closest === null) return;
  const { bucket, remaining, resetsAt } = closest;
  headers["ratelimit-policy"] = policyOf(bucket, quota);
  const seconds = secondsUntil(resetsAt, now, bucket === "second" ? quota.windowMs : dayMs);
  headers["ratelimit"] = `"${bucket}";r=${remaining};t=${seconds}`;
};

const unixSeconds = ({ resetsAt }: Allowance): string => String(Math.ceil(resetsAt / 1000));

/** Returns the headers that every API response has. Callers may add others. */
export const commonHeaders = (context: RequestContext, now: Millis): Record<string, string> => {
  const headers: Record<string, string> = {
    "x-request-id": context.requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  const { key, limits } = context;
  if (key !== null) {
    const { endsAt, quota } = key;
    if (endsAt !== null && endsAt - now < expiryNoticeMs) headers["x-key-expires"] = formatTimestamp(endsAt);
    if (limits !== null) limitHeaders(headers, limits, quota, now);
  }
  if (context.isReplayed) headers["idempotent-replayed"] = "true";
  return headers;
};

export const addErrorHeaders = (headers: Record<string, string>, error: PublicError): void => {
  addRetryAfter(headers, error);
  if (error._tag === "InvalidApiKey") headers["www-authenticate"] = "Bearer";
};

export const addRetryAfter = (headers: Record<string, string>, error: PublicError): void => {
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== null) headers["retry-after"] = String(retryAfter);
};

/** Makes a JSON response. The body is not validated here; the contract tests validate it. */
export const jsonResponse = (
  status: number,
  body: unknown,
  headers: Record<string, string>,
): HttpResponse => {
  headers["content-type"] = "application/json";
  return new HttpResponse(status, headers, JSON.stringify(body));
};
