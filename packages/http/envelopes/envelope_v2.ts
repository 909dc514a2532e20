import { formatTimestamp } from "@accountlink/core/timestamp";
import { EnvelopeV2, statusOf } from "@accountlink/http-api";
import { type RequestContext, toContract } from "../request_context.ts";
import { type DatedContract, defaultContract } from "../service_versions/service_version.ts";
import { addErrorHeaders, commonHeaders, type Envelope, jsonResponse, type Success } from "./envelope.ts";

type RateLimit = EnvelopeV2.RateLimit;

const reportedLimit = ({ limits }: RequestContext): RateLimit => {
  if (limits === null) return EnvelopeV2.unknownLimit;
  if (limits.window === null) return EnvelopeV2.unlimited;
  const { bucket, limit, remaining, resetsAt } = limits.window;
  return {
    limit,
    remaining,
    resetAt: formatTimestamp(resetsAt),
    retryAfter: null,
    scope: "api_key",
    bucket,
  };
};

const metaOf = (context: RequestContext, rateLimit: RateLimit, bulk: Success["bulk"]) => ({
  requestId: context.requestId,
  version: EnvelopeV2.version,
  rateLimit,
  tier: context.key?.key.tier,
  bulk,
});

const headersOf = (context: RequestContext, now: number, { date }: DatedContract) => {
  const headers = commonHeaders(context, now);
  headers["service-version"] = date;
  return headers;
};

export const bareAnswer = (context: RequestContext, body: unknown) =>
  jsonResponse(200, body, headersOf(context, context.clock.currentTimeMillisUnsafe(), context.contract));

export const envelopeV2: Envelope = {
  success: (context, { status = 200, data, bulk }) => {
    const now = context.clock.currentTimeMillisUnsafe();
    const meta = metaOf(context, reportedLimit(context), bulk);
    const body = { status, data: toContract(context, data), meta, timestamp: formatTimestamp(now) };
    return jsonResponse(status, body, headersOf(context, now, context.contract));
  },

  failure: (context, error) => {
    const now = context.clock.currentTimeMillisUnsafe();
    const headers = headersOf(context, now, defaultContract);
    addErrorHeaders(headers, error);
    const { code, message, details } = error;
    const status = statusOf(error);
    const meta = metaOf(context, EnvelopeV2.refusingLimit(error) ?? reportedLimit(context), undefined);
    return jsonResponse(
      status,
      { status, error: { code, message, details }, meta, timestamp: formatTimestamp(now) },
      headers,
    );
  },
};
