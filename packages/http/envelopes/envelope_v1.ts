import { formatTimestamp } from "@accountlink/core/timestamp";
import { EnvelopeV1, isRateLimited, type Route, statusOf, wordedMessage } from "@accountlink/http-api";
import type { RequestContext } from "../request_context.ts";
import { addErrorHeaders, commonHeaders, type Envelope, jsonResponse } from "./envelope.ts";

const mappingCounters = ({ limits }: RequestContext) => ({
  requestsRemaining: limits?.day?.remaining ?? null,
  ipRequestsRemaining: limits?.addressDay?.remaining ?? null,
});

const verifyCounters = ({ limits }: RequestContext) => ({
  verifyRequestsRemaining: limits?.day?.remaining ?? null,
  verifyIpRequestsRemaining: limits?.addressDay?.remaining ?? null,
});

export const envelopeV1 = ({
  wordings,
  traffic,
  version = EnvelopeV1.version,
}: Pick<Route, "wordings" | "traffic" | "version">): Envelope => {
  const counters = traffic === "verify" ? verifyCounters : mappingCounters;
  return {
    success: (context, { status = 200, data, message, resolved }) => {
      const now = context.clock.currentTimeMillisUnsafe();
      const body = {
        status,
        message,
        data,
        resolved,
        timestamp: formatTimestamp(now),
        version: resolved === undefined ? version : EnvelopeV1.resolvedVersion,
        ...counters(context),
      };
      return jsonResponse(status, body, commonHeaders(context, now));
    },

    failure: (context, error) => {
      const now = context.clock.currentTimeMillisUnsafe();
      const wording = wordings?.[error.code];
      const status = wording?.status ?? statusOf(error);
      const headers = commonHeaders(context, now);
      addErrorHeaders(headers, error);
      const body = {
        status,
        error: (wording && wordedMessage(wording, error)) ?? EnvelopeV1.messageOf(error),
        timestamp: formatTimestamp(now),
        version,
        ...counters(context),
        ...(isRateLimited(error) ? { retryAfter: error.retryAfter } : {}),
      };
      return jsonResponse(status, body, headers);
    },
  };
};
