/**
 * The v2 envelope.
 */
import type { PublicError } from "@accountlink/core";
import { EnvelopeV2, type Route, statusOf } from "@accountlink/http-api";
import {
  addErrorHeaders,
  commonHeaders,
  type Envelope,
  isoTime,
  isRefusal,
  jsonResponse,
  type Success,
} from "./envelope.ts";
import { agreedData, type Exchange } from "./exchange.ts";
import { type DatedContract, defaultContract } from "./service_version.ts";

type RateLimit = EnvelopeV2.RateLimit;

const noLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null };
const unknownLimit: RateLimit = { ...noLimit, scope: null };
const unlimited: RateLimit = { ...noLimit, scope: "api_key" };

const reportedLimit = ({ limits }: Exchange, bucket: "second" | "verify_day"): RateLimit => {
  if (limits === null) return unknownLimit;
  if (limits.window === null) return unlimited;
  const { limit, remaining, resetsAt } = limits.window;
  return {
    limit,
    remaining,
    resetAt: isoTime(resetsAt),
    retryAfter: null,
    scope: "api_key",
    bucket,
  };
};

const refusingLimit = (error: PublicError): RateLimit | null =>
  isRefusal(error)
    ? {
        limit: error.limit,
        remaining: 0,
        resetAt: isoTime(error.resetsAt),
        retryAfter: error.retryAfter,
        scope: error._tag === "RateLimited" ? "api_key" : "ip",
        bucket: error.bucket,
      }
    : null;

const metaOf = (exchange: Exchange, rateLimit: RateLimit, bulk: Success["bulk"]) => ({
  requestId: exchange.requestId,
  version: EnvelopeV2.version,
  rateLimit,
  tier: exchange.key?.key.tier,
  bulk,
});

const headersOf = (exchange: Exchange, now: number, { date }: DatedContract) => {
  const headers = commonHeaders(exchange, now);
  headers["service-version"] = date;
  return headers;
};

/** The v2 envelope. Session routes report another limit than the others. */
export const envelopeV2 = ({ traffic }: Pick<Route, "traffic">): Envelope => {
  const bucket = traffic === "verify" ? "verify_day" : "second";
  return {
    success: (exchange, { status = 200, data, bulk }) => {
      const now = exchange.clock.currentTimeMillisUnsafe();
      const meta = metaOf(exchange, reportedLimit(exchange, bucket), bulk);
      const body = { status, data: agreedData(exchange, data), meta, timestamp: isoTime(now) };
      return jsonResponse(status, body, headersOf(exchange, now, exchange.contract));
    },

    failure: (exchange, error) => {
      const now = exchange.clock.currentTimeMillisUnsafe();
      const status = statusOf(error);
      const headers = headersOf(exchange, now, defaultContract);
      addErrorHeaders(headers, error);
      const { code, message, details } = error;
      const meta = metaOf(exchange, refusingLimit(error) ?? reportedLimit(exchange, bucket), undefined);
      return jsonResponse(
        status,
        { status, error: { code, message, details }, meta, timestamp: isoTime(now) },
        headers,
      );
    },
  };
};
