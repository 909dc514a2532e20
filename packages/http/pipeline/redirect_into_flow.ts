import { emptyResponse, type HttpResponse } from "../http_response.ts";
import type { RequestContext } from "../request_context.ts";

/** Redirects into the public verification flow. */
export const redirectIntoFlow = (
  publicUrl: string,
  { requestId, contract }: RequestContext,
  query: string,
): HttpResponse =>
  emptyResponse(302, {
    location: `${publicUrl}/verify${query}`,
    "x-request-id": requestId,
    "service-version": contract.date,
    "cache-control": "no-store",
  });
