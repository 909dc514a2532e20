/** Responses of the emulated APIs of other services; they have no envelope. */
import { Forbidden, type PublicError } from "@accountlink/core/errors";
import type { OtherService } from "@accountlink/http-api";
import type { RequestContext } from "../request_context.ts";
import { addRetryAfter, commonHeaders, type Envelope, jsonResponse } from "./envelope.ts";

const headersOf = (service: OtherService, context: RequestContext, error: PublicError | null) => {
  const now = context.clock.currentTimeMillisUnsafe();
  const headers = commonHeaders(context, now);
  if (context.limits !== null) Object.assign(headers, service.limitsOf(context.limits, error, now));
  return headers;
};

export const envelopeCompat = (service: OtherService): Envelope => {
  const [{ scheme }] = service.credentials;
  return {
    success: (context, { data }) => jsonResponse(200, data, headersOf(service, context, null)),

    failure: (context, error) => {
      const { status, body } = service.refuse(asRefusal(error));
      const headers = headersOf(service, context, error);
      addRetryAfter(headers, error);
      if (status === 401 && scheme !== null) headers["www-authenticate"] = scheme;
      return jsonResponse(status, body, headers);
    },
  };
};

/** Other services know no keys of strangers: for them, the bot is missing in a guild that the account may not name. */
const asRefusal = (error: PublicError): PublicError =>
  error._tag === "Forbidden" && error.reason === "not_guild_manager"
    ? new Forbidden({ reason: "bot_not_in_guild" })
    : error;
