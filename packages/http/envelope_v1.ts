/**
 * The v1 envelope.
 */
import { EnvelopeV1, type Route, statusOf } from "@accountlink/http-api";
import {
  addErrorHeaders,
  commonHeaders,
  type Envelope,
  isoTime,
  isRefusal,
  jsonResponse,
} from "./envelope.ts";
import type { Exchange } from "./exchange.ts";

const mappingCounters = ({ limits }: Exchange) => ({
  requestsRemaining: limits?.day?.remaining ?? null,
  ipRequestsRemaining: limits?.addressDay?.remaining ?? null,
});

const verifyCounters = ({ limits }: Exchange) => ({
  verifyRequestsRemaining: limits?.day?.remaining ?? null,
  verifyIpRequestsRemaining: limits?.addressDay?.remaining ?? null,
});

/** The v1 envelope, with the wordings and counters of a route. */
export const envelopeV1 = ({ wordings, traffic }: Pick<Route, "wordings" | "traffic">): Envelope => {
  const counters = traffic === "verify" ? verifyCounters : mappingCounters;
  return {
    success: (exchange, { status = 200, data, message, resolved }) => {
      const now = exchange.clock.currentTimeMillisUnsafe();
      const body = {
        status,
        message,
        data,
        resolved,
        timestamp: isoTime(now),
        version: resolved === undefined ? EnvelopeV1.version : EnvelopeV1.resolvedVersion,
        ...counters(exchange),
      };
      return jsonResponse(status, body, commonHeaders(exchange, now));
    },

    failure: (exchange, error) => {
      const now = exchange.clock.currentTimeMillisUnsafe();
      const wording = wordings?.[error.code] ?? { status: statusOf(error), message: error.message };
      const headers = commonHeaders(exchange, now);
      addErrorHeaders(headers, error);
      const body = {
        status: wording.status,
        error: wording.message,
        timestamp: isoTime(now),
        version: EnvelopeV1.version,
        ...counters(exchange),
        ...(isRefusal(error) ? { retryAfter: error.retryAfter } : {}),
      };
      return jsonResponse(wording.status, body, headers);
    },
  };
};
