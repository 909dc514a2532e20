import { groupBy } from "@accountlink/core/group_by";
import type { RawValues } from "@accountlink/http-api";
import { FindMyWay } from "effect/http";
import { pathOf } from "./http_app.ts";
import type { BoundRoute } from "./pipeline/pipeline.ts";
import type { Answer } from "./request_context.ts";

/** Options of `FindMyWay`. Slashes and letter case are significant in paths. */
const config = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  // Node accepts at most this many bytes as the head of a request, so the router refuses no parameter for its length.
  maxParamLength: 16_384,
};

export interface Router {
  /** Finds the route of a request and its parameters; undefined if none matches. */
  readonly find: (method: string, url: string) => Found | undefined;
  /** The `Allow` header for a path; undefined for an unknown path. */
  readonly allowed: (url: string) => string | undefined;
}

interface Found {
  /** The path of the route, such as `/v2/sessions/:sid`. */
  readonly path: string;
  readonly answer: Answer;
  /** Parameters of the query string and the path. */
  readonly query: RawValues;
}

export const makeRouter = (routes: ReadonlyArray<BoundRoute>): Router => {
  const table = tableOf(routes);
  // This router is built on first use, because only requests that match no route need it.
  let methods: FindMyWay.Router<string> | undefined;
  return {
    find: (method, url) => {
      const found = table.find(method === "HEAD" ? "GET" : method, url);
      if (found === undefined) return undefined;
      const { params, searchParams } = found;
      const { path, answer, refusesHead } = routes[found.handler] as BoundRoute;
      if (refusesHead === true && method === "HEAD") return undefined;
      return { path, answer, query: path.includes(":") ? { ...searchParams, ...params } : searchParams };
    },
    allowed: (url) => (methods ??= methodsByPath(routes)).find("GET", url)?.handler,
  };
};

const tables = new Map<string, FindMyWay.Router<number>>();

/** A table that maps each route to its index in the list. It is slow to build, so applications share it. */
const tableOf = (routes: ReadonlyArray<BoundRoute>): FindMyWay.Router<number> => {
  const key = routes.map(({ method, path }) => method + path).join();
  let table = tables.get(key);
  if (table === undefined) {
    table = FindMyWay.make<number>(config);
    for (const [index, { method, path }] of routes.entries()) table.on(method, path, index);
    tables.set(key, table);
  }
  return table;
};

const methodsByPath = (routes: ReadonlyArray<BoundRoute>): FindMyWay.Router<string> => {
  const methods = FindMyWay.make<string>(config);
  for (const [path, sharing] of groupBy(routes, (route) => route.path)) {
    const own = sharing.map(({ method }) => method);
    if (sharing.some(({ method, refusesHead }) => method === "GET" && refusesHead !== true)) own.push("HEAD");
    methods.on("GET", path, [...own, "OPTIONS"].join(", "));
  }
  return methods;
};

/**
 * Makes a router for documents. It compares paths literally, without decoding them, so that each document has only one
 * path. A proxy can thus block a document by its path. A path that ends with `/*` matches all paths below it.
 */
export const makeLiteralRouter = (routes: ReadonlyArray<BoundRoute>): Router => {
  const byPath = new Map<string, BoundRoute>(routes.map((route) => [route.path, route]));
  const folders = routes.filter(({ path }) => path.endsWith("/*"));
  const routeOf = (url: string) => {
    const path = pathOf(url);
    return byPath.get(path) ?? folders.find((folder) => path.startsWith(folder.path.slice(0, -1)));
  };
  return {
    find: (method, url) => {
      const route = method === "GET" || method === "HEAD" ? routeOf(url) : undefined;
      return route && { path: route.path, answer: route.answer, query: {} };
    },
    allowed: (url) => (routeOf(url) === undefined ? undefined : "GET, HEAD, OPTIONS"),
  };
};
