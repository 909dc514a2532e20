/** The route of a file that the pages of the flow load, such as their style sheet. */
import { type BoundRoute, type HttpRequest, textResponse, withHeaders } from "@accountlink/http/for_pages";
import { Effect } from "effect";

/** The route that metrics and logs show for the whole flow, because its paths are not in the contract. */
export const routeId = "verify";

const fileHeaders = { "cache-control": "public, max-age=3600", "x-content-type-options": "nosniff" };

export const fileRoute = (
  path: `/verify/${string}`,
  type: string,
  textFor: (request: HttpRequest) => string,
): BoundRoute => ({
  method: "GET",
  path,
  answer: withHeaders(routeId, (request) =>
    Effect.succeed(textResponse(200, textFor(request), `${type}; charset=utf-8`, fileHeaders)),
  ),
});
