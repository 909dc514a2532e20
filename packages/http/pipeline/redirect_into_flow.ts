import { emptyResponse, type HttpResponse } from "../http_app.ts";
import { defaultContract } from "../service_versions/service_version.ts";

export const redirectIntoFlow = (publicUrl: string, requestId: string, query: string): HttpResponse =>
  emptyResponse(302, {
    location: `${publicUrl}/verify${query}`,
    "x-request-id": requestId,
    "service-version": defaultContract.date,
    "cache-control": "no-store",
  });
