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

const counters = ({ limits }: Exchange) => ({
  requestsRemaining: limits?.day?.remaining ?? null,
  ipRequestsRemaining: limits?.addressDay?.remaining ?? null,
});

/** The v1 envelope, with the wordings of a route. */
export const envelopeV1 = ({ wordings }: Pick<Route, "wordings">): Envelope => ({
  success: (exchange, { data, message, resolved }) => {
    const now = exchange.clock.currentTimeMillisUnsafe();
    const body = {
      status: 200,
      message,
      data,
      resolved,
      timestamp: isoTime(now),
      version: resolved === undefined ? EnvelopeV1.version : EnvelopeV1.resolvedVersion,
      ...counters(exchange),
    };
    return jsonResponse(200, body, commonHeaders(exchange, now));
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
});
