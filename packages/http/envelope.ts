/**
 * What the envelopes of both generations share: headers and limits.
 */
import {
  type Allowance,
  formatTimestamp,
  type LimitReport,
  type Millis,
  type PublicError,
  type RateLimited,
  type SharedIpRateLimited,
} from "@accountlink/core";
import { type Headers, HttpServerResponse } from "effect/http";
import type { Exchange } from "./exchange.ts";

/** What an answer in an envelope is made of. */
export interface Success {
  /** 200 when left out. */
  readonly status?: 200 | 201;
  readonly data: unknown;
  /** v2 bulk only: goes into `meta.bulk`. */
  readonly bulk?: { readonly uniqueInputs: number; readonly maxInputs: number };
  /** v1 writes only. */
  readonly message?: string;
  /** v1 lookups of Premium keys only. */
  readonly resolved?: unknown;
}

/**
 * What a handler gives for an answer of this shape: all of it that the envelope does not know; for one that is in no
 * envelope, the whole answer.
 */
export type SuccessOf<Answer> = Answer extends { readonly status: infer Status; readonly data: unknown }
  ? Success &
      Pick<Answer, keyof Answer & ("data" | "message" | "resolved")> &
      (Status extends 200 ? {} : { readonly status: Status }) &
      (Answer extends { readonly meta: infer Meta } ? Pick<Meta, keyof Meta & "bulk"> : {})
  : HttpServerResponse.HttpServerResponse;

/** How a generation words its answers. */
export interface Envelope {
  readonly success: (exchange: Exchange, success: Success) => HttpServerResponse.HttpServerResponse;
  readonly failure: (exchange: Exchange, error: PublicError) => HttpServerResponse.HttpServerResponse;
}

export const isRefusal = (error: PublicError): error is RateLimited | SharedIpRateLimited =>
  error._tag === "RateLimited" || error._tag === "SharedIpRateLimited";

/** How many seconds to wait before the request is worth another try, where that is known. */
export const retryAfterOf = (error: PublicError): number | null => {
  if (isRefusal(error)) return error.retryAfter;
  return error._tag === "StoreUnavailable" || error._tag === "PlatformUnavailable" ? 1 : null;
};

const isoTimes = new Map<Millis, string>();

/** A time as answers carry it. Under load many answers carry the same few. */
export const isoTime = (time: Millis): string => {
  let text = isoTimes.get(time);
  if (text === undefined) {
    text = formatTimestamp(time);
    if (isoTimes.size >= 64) isoTimes.clear();
    isoTimes.set(time, text);
  }
  return text;
};

const expiryNoticeMs = 7 * 86_400_000;

const limitHeaders = (headers: Record<string, string>, { window, day }: LimitReport): void => {
  if (window !== null) {
    headers["x-ratelimit-limit"] = String(window.limit);
    headers["x-ratelimit-remaining"] = String(window.remaining);
    headers["x-ratelimit-reset"] = unixSeconds(window);
  }
  if (day !== null) {
    headers["x-ratelimit-limit-day"] = String(day.limit);
    headers["x-ratelimit-remaining-day"] = String(day.remaining);
  }
};

const unixSeconds = ({ resetsAt }: Allowance): string => String(Math.ceil(resetsAt / 1000));

/** The headers of every answer, by what is known of the request. */
export const commonHeaders = (exchange: Exchange, now: Millis): Record<string, string> => {
  const headers: Record<string, string> = {
    "x-request-id": exchange.requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  const endsAt = exchange.key?.endsAt ?? null;
  if (endsAt !== null && endsAt - now < expiryNoticeMs) headers["x-key-expires"] = isoTime(endsAt);
  if (exchange.limits !== null) limitHeaders(headers, exchange.limits);
  return headers;
};

/** Adds what a refusal says in headers. */
export const addErrorHeaders = (headers: Record<string, string>, error: PublicError): void => {
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== null) headers["retry-after"] = String(retryAfter);
  if (error._tag === "InvalidApiKey") headers["www-authenticate"] = "Bearer";
};

/** A JSON answer. The body's shape is the envelope's to get right; nothing is validated again here. */
export const jsonResponse = (
  status: number,
  body: unknown,
  headers: Headers.Input,
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), { status, headers, contentType: "application/json" });
