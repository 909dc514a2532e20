/**
 * Requests without Effect's router and HTTP server, which cost more than a lookup. Any request that is
 * not of the plainest form goes the long way, to the same handlers.
 */
import type { Effect } from "effect";
import type { HttpServerResponse } from "effect/http";
import type { BoundRoute, DirectRoute } from "./pipeline/pipeline.ts";
import type { DirectRequest } from "./request_context.ts";

/**
 * Answers a request; undefined for one that needs the application.
 *
 * @internal
 */
export type DirectRequests = (
  request: DirectRequest,
  remoteAddress: string | undefined,
) => Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined;

export const directRequests = (routes: ReadonlyArray<BoundRoute>): DirectRequests => {
  const direct = routes.filter(isDirect).filter(({ path }) => !path.includes(":"));
  const byLine = new Map(direct.map((route) => [`${route.method} ${route.path}`, route]));
  return (request, remoteAddress) => {
    const [path, query] = splitUrl(request.url);
    const route = byLine.get(`${request.method} ${path}`);
    const values = route === undefined ? undefined : plainValues(query);
    return values && route?.answerDirectly(request, values, remoteAddress);
  };
};

const isDirect = (route: BoundRoute): route is DirectRoute => "answerDirectly" in route;

const splitUrl = (url: string): [path: string, query: string] => {
  const end = url.indexOf("?");
  return end === -1 ? [url, ""] : [url.slice(0, end), url.slice(end + 1)];
};

const plainPair = /^([a-zA-Z]+)=([\w.~-]*)$/;

/** The values of a query without encoding and repeated names; undefined for any other. */
const plainValues = (query: string): Record<string, string> | undefined => {
  const values: Record<string, string> = {};
  if (query === "") return values;
  for (const pair of query.split("&")) {
    const [, name, value] = plainPair.exec(pair) ?? [];
    if (name === undefined || value === undefined || Object.hasOwn(values, name)) return undefined;
    values[name] = value;
  }
  return values;
};
