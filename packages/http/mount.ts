/**
 * Mounts the application below the base path, which is the path of the public URL. Routes use paths from the root:
 * `mount` removes the base path from requests, and adds it to redirects.
 */
import { Effect } from "effect";
import type { HttpApp, HttpRequest, HttpResponse } from "./http_app.ts";

/** The path of the public URL, without a trailing slash; empty for the root. */
export const basePathOf = ({ publicUrl }: { readonly publicUrl: string }): string =>
  new URL(publicUrl).pathname.replace(/\/$/, "");

/** @param outside answers requests for other paths */
export const mount = (basePath: string, app: HttpApp, outside: HttpApp["answer"]): HttpApp => {
  if (basePath === "") return app;
  const mounted =
    (answer: HttpApp["answer"]): HttpApp["answer"] =>
    (request) => {
      const url = urlBelow(basePath, request.url);
      if (url === null) return outside(request);
      return Effect.map(answer(withUrl(request, url)), (response) => locatedBelow(basePath, response));
    };
  return {
    answer: mounted(app.answer),
    refuse: (request, error) => mounted((below) => app.refuse(below, error))(request),
  };
};

const urlBelow = (basePath: string, url: string): string | null => {
  if (!url.startsWith(basePath)) return null;
  const rest = url.slice(basePath.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : null;
};

const withUrl = (request: HttpRequest, url: string): HttpRequest => ({
  method: request.method,
  url,
  remoteAddress: request.remoteAddress,
  get hasArrived() {
    return request.hasArrived === true;
  },
  noteUncounted: () => request.noteUncounted?.(),
  header: (name) => request.header(name),
  readBody: (maxBytes) => request.readBody(maxBytes),
  streamBody: (maxBytes) => request.streamBody(maxBytes),
});

const locatedBelow = (basePath: string, response: HttpResponse): HttpResponse => {
  const { location } = response.headers;
  return typeof location === "string" && location.startsWith("/")
    ? response.withHeaders({ location: basePath + location })
    : response;
};
