/**
 * Lookups without Effect's router and HTTP server, which cost more than the lookup. Any request that
 * is not of the plainest form goes the long way, to the same handlers.
 */
import type { Effect } from "effect";
import type { HttpServerResponse } from "effect/http";
import type { HeadRoute } from "./pipeline/pipeline.ts";
import type { RequestHead } from "./request_context.ts";

/**
 * Answers a request by its head alone; undefined for one that needs the application.
 *
 * @internal
 */
export type DirectLookups = (
  head: RequestHead,
  remoteAddress: string | undefined,
) => Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined;

export const directLookups = (routes: ReadonlyArray<HeadRoute>): DirectLookups => {
  const byPath = new Map<string, HeadRoute>(routes.map((route) => [route.path, route]));
  return (head, remoteAddress) => {
    const [path, query] = splitUrl(head.url);
    const route = head.method === "GET" ? byPath.get(path) : undefined;
    const values = route === undefined ? undefined : plainValues(query);
    return values && route?.answerHead(head, values, remoteAddress);
  };
};

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
