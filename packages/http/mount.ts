/**
 * The application below a path of another server. Everything else names paths from the root; here alone they are put
 * below the base path, which is that of the public URL.
 */
import { Html } from "@accountlink/html";
import { Effect } from "effect";
import { Cookies, HttpServerRequest, HttpServerResponse } from "effect/http";
import type { HttpApp } from "./pipeline/refused_request.ts";

/** The path of the public URL, without a slash at its end; empty for the root. */
export const basePathOf = ({ publicUrl }: { readonly publicUrl: string }): string =>
  new URL(publicUrl).pathname.replace(/\/$/, "");

/**
 * Mounts the application.
 *
 * @param outside answers requests for other paths
 */
export const mount = (basePath: string, app: HttpApp, outside: HttpApp): HttpApp => {
  if (basePath === "") return app;
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const url = urlBelow(basePath, request.url);
    if (url === null) return outside;
    return Effect.map(
      Effect.provideService(app, HttpServerRequest.HttpServerRequest, request.modify({ url })),
      (response) => withPathsBelow(basePath, response),
    );
  });
};

/** The URL as seen from the base path; null outside of it. */
const urlBelow = (basePath: string, url: string): string | null => {
  if (!url.startsWith(basePath)) return null;
  const rest = url.slice(basePath.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : null;
};

const withPathsBelow = (
  basePath: string,
  response: HttpServerResponse.HttpServerResponse,
): HttpServerResponse.HttpServerResponse => {
  const { location } = response.headers;
  const moved =
    location?.startsWith("/") === true
      ? HttpServerResponse.setHeader(response, "location", basePath + location)
      : response;
  return Cookies.isEmpty(moved.cookies)
    ? moved
    : HttpServerResponse.updateCookies(moved, (cookies) =>
        Cookies.fromIterable(Object.values(cookies.cookies).map((cookie) => cookieBelow(basePath, cookie))),
      );
};

/** Browsers take a `__Host-` cookie with the path "/" only. */
const cookieBelow = (basePath: string, cookie: Cookies.Cookie): Cookies.Cookie => {
  const path = cookie.options?.path ?? "/";
  if (cookie.name.startsWith("__Host-")) return cookie;
  return Cookies.makeCookieUnsafe(cookie.name, cookie.value, {
    ...cookie.options,
    path: path === "/" ? basePath : basePath + path,
  });
};

/** A document whose links, forms and files are below the base path. */
export const documentBelow = (basePath: string, { source }: Html): Html =>
  // Interpolated quotes are escaped, so these attributes are those that templates name.
  new Html(source.replace(/ (href|action|src|data-leaves-for)="\//g, ` $1="${basePath}/`));
