/**
 * Assembles the HTTP application: contract routes, pages, documentation, operator routes, and refusals for all other
 * requests.
 */
import type { PublicError } from "@accountlink/core";
import { BadRequest } from "@accountlink/core/errors";
import { IsRoblox } from "@accountlink/core/platforms";
import { isTraced } from "@accountlink/core/telemetry";
import { statusOf } from "@accountlink/http-api";
import { Effect } from "effect";
import { altRoutes } from "./alts/alt_routes.ts";
import { compatRoutes } from "./compat/compat_routes.ts";
import { eventRoutes } from "./events/event_routes.ts";
import {
  decoded,
  emptyResponse,
  type HttpApp,
  type HttpRequest,
  HttpResponse,
  isUnder,
  privateHeaders,
} from "./http_app.ts";
import { leakRoutes } from "./keys/leak_routes.ts";
import { routesV1 } from "./links/routes_v1.ts";
import { routesV2 } from "./links/routes_v2.ts";
import { basePathOf, mount } from "./mount.ts";
import type { KeylessAnswers, MakePages, Pages } from "./pages.ts";
import { makePipeline } from "./pipeline/pipeline.ts";
import { roleRoutes } from "./roles/role_routes.ts";
import { makeLiteralRouter, makeRouter } from "./router.ts";
import { inServerSpan } from "./server_span.ts";
import { sessionRoutes } from "./sessions/session_routes.ts";
import { HttpSettings } from "./settings.ts";
import { docsRoutes } from "./system/docs_routes.ts";
import { healthRoutes, metricsRoute } from "./system/system_routes.ts";

export interface HttpAppOptions<R> {
  /** `makePages` of `@accountlink/pages`; without it, the application serves no pages. */
  readonly pages?: MakePages<R>;
}

/**
 * Makes the application from the services of core, `HttpSettings` and `Readiness`.
 *
 * @example
 * ```ts
 * import { type HttpApp, type HttpRequest, HttpSettings, Readiness } from "@accountlink/http";
 * import { MemoryWorld } from "@accountlink/testing";
 * import { Effect, Layer, Stream } from "effect";
 *
 * const settings = { publicUrl: "https://links.example", trustedProxies: [], withoutAddresses: true };
 * const services = Layer.mergeAll(
 *   Readiness.layerStorage,
 *   Layer.succeed(HttpSettings, settings),
 * ).pipe(Layer.provideMerge(MemoryWorld.layer()));
 *
 * const get = (url: string): HttpRequest => ({
 *   method: "GET",
 *   url,
 *   remoteAddress: undefined,
 *   header: () => undefined,
 *   readBody: () => Effect.fail(new BodyTooLarge()),
 *   streamBody: () => Stream.empty,
 * });
 * const statuses = Effect.gen(function* () {
 *   const [users, operators] = [yield* makeHttpApp(), yield* makeOperatorApp];
 *   const answers = [users.answer(get("/v2/chat?chatId=100001")), operators.answer(get("/readyz"))];
 *   return (yield* Effect.all(answers)).map(({ status }) => status);
 * });
 * await Effect.runPromise(Effect.scoped(Effect.provide(statuses, services))); // [401, 200]
 * ```
 */
export const makeHttpApp = Effect.fnUntraced(function* <R = never>({
  pages: makePages,
}: HttpAppOptions<R> = {}) {
  const settings = yield* HttpSettings;
  const { publicUrl, metricsElsewhere = false } = settings;
  const exportsSpans = yield* isTraced;
  const isRoblox = yield* IsRoblox;
  const pipeline = yield* makePipeline;
  const lookups = yield* routesV2(pipeline);
  const pages: Pages | undefined = yield* makePages?.(() => makeRouter(lookups)) ?? Effect.undefined;
  const router = makeRouter([
    ...lookups,
    ...(yield* leakRoutes(pipeline)),
    ...(yield* routesV1(pipeline)),
    ...(yield* altRoutes(pipeline)),
    ...(isRoblox ? yield* compatRoutes(pipeline) : []),
    ...(yield* eventRoutes(pipeline)),
    ...(yield* sessionRoutes(pipeline)),
    ...(yield* roleRoutes(pipeline)),
    ...(pages?.routes ?? []),
  ]);
  const basePath = basePathOf(settings);
  const documents = makeLiteralRouter([
    ...docsRoutes(
      settings.docs?.(publicUrl, basePath, { withoutCompat: !isRoblox }) ?? [],
      pipeline,
      pages?.elsewhere ?? pipeline,
    ),
    ...(yield* healthRoutes),
    ...(metricsElsewhere ? [] : [metricsRoute]),
  ]);

  const uncounted: KeylessAnswers = {
    keylessAnswer: (id, answer) => pipeline.keylessAnswer(id, answer, { isCounted: false }),
  };

  const siteOf = ({ url }: HttpRequest) => pages?.answersAt(decoded(url)) ?? null;

  // Only requests for unknown paths count against the limits of the address.
  const refuseAs = (problem: BadRequest["problem"]) => (request: HttpRequest) => {
    const withoutPages = problem === "not_found" ? pipeline : uncounted;
    const elsewhere = isOfBrowser(request) ? (pages?.elsewhere ?? withoutPages) : withoutPages;
    return answerBy(siteOf(request) ?? elsewhere, request, new BadRequest({ problem }));
  };
  const unreadable = refuseAs("unreadable");
  const notFound = refuseAs("not_found");
  const methodNotAllowed = refuseAs("method_not_allowed");

  const answerUnmatched = (request: HttpRequest): Effect.Effect<HttpResponse> => {
    const allow = router.allowed(request.url) ?? documents.allowed(request.url);
    if (allow === undefined) return notFound(request);
    if (request.method === "OPTIONS") {
      return answerBy(uncounted, request, Effect.succeed(emptyResponse(204, { allow })), "options");
    }
    return Effect.map(methodNotAllowed(request), (response) =>
      response.status === 405 ? response.withHeaders({ allow }) : response,
    );
  };

  /** Redirects a page's path that ends with a slash; null for all other paths. */
  const redirectToPage = (request: HttpRequest): Effect.Effect<HttpResponse> | null => {
    const [, path = "", query = ""] = /^([^?]+)\/(\?.*)?$/.exec(request.url) ?? [];
    if (
      pages === undefined ||
      !pageRoots.some((root) => isUnder(root, path)) ||
      isUnder(dashboardApi, decoded(path))
    )
      return null;
    if (unroutable.test(path)) return null;
    const page = router.find("GET", path) ?? documents.find("GET", path);
    if (page === undefined) return null;
    const location = `${path}${query}`;
    const redirect = emptyResponse(308, { ...privateHeaders, location });
    return answerBy(pages.elsewhere, request, Effect.succeed(redirect), "slash");
  };

  const answer = (request: HttpRequest): Effect.Effect<HttpResponse> => {
    const { method, url } = request;
    if (unusual.test(url)) {
      if (!isReadable(url)) return unreadable(request);
      if (unroutable.test(url)) return redirectToPage(request) ?? notFound(request);
    }
    const found = router.find(method, url);
    if (found !== undefined) {
      const answered = found.answer(request, found.query);
      return exportsSpans ? inServerSpan(request, found.path, answered) : answered;
    }
    const document = documents.find(method, url);
    return document === undefined ? answerUnmatched(request) : document.answer(request, document.query);
  };

  const refuse = (request: HttpRequest, error: PublicError) => {
    const site = siteOf(request);
    if (error._tag === "MalformedRequest" && site !== null) {
      const page = answerBy(site, request, new BadRequest({ problem: "unreadable" }));
      return Effect.map(page, ({ headers, body }) => new HttpResponse(statusOf(error), headers, body));
    }
    if (error._tag !== "SharedIpRateLimited") {
      return pipeline.keylessAnswer("unmatched", () => Effect.fail(error), { isCounted: false })(request, {});
    }
    return answerBy(site ?? uncounted, request, error);
  };

  const mounted = mount(basePath, unframed({ answer, refuse }), notFound);
  return publicUrl.startsWith("https:") ? withStrictTransport(mounted) : mounted;
});

/** @param id the name of these requests in metrics */
const answerBy = (
  { keylessAnswer }: KeylessAnswers,
  request: HttpRequest,
  answer: ReturnType<Parameters<KeylessAnswers["keylessAnswer"]>[1]>,
  id = "unmatched",
) => keylessAnswer(id, () => answer)(request, {});

const dashboardApi = "/dashboard/api";

/** Every path below these roots is a page, except the JSON API of the dashboard. */
const pageRoots = ["/verify", "/go", "/me", "/dashboard", "/docs", "/guide"];

/** Whether a browser opened a URL outside the API, such as a mistyped `/Go`. */
const isOfBrowser = (request: HttpRequest): boolean =>
  request.header("accept")?.includes("text/html") === true && !interfaces.test(decoded(request.url));

const interfaces = /^\/+(?:v2|api|compat|dashboard\/api)(?:[/?]|$)/i;

/** No other site may show the dashboard's JSON in a frame, because the browser of a signed-in user can load it. */
const unframed = ({ answer, refuse }: HttpApp): HttpApp => ({
  answer: (request) => unframedAt(request.url, answer(request)),
  refuse: (request, error) => unframedAt(request.url, refuse(request, error)),
});

const unframedAt = (url: string, response: Effect.Effect<HttpResponse>) =>
  isUnder(dashboardApi, decoded(url)) ? Effect.map(response, withoutFrames) : response;

const withoutFrames = (response: HttpResponse): HttpResponse =>
  response.withHeaders({ "x-frame-options": privateHeaders["x-frame-options"] });

/** Tells browsers to use https only, for a year. */
const withStrictTransport = ({ answer, refuse }: HttpApp): HttpApp => ({
  answer: (request) => Effect.map(answer(request), strictTransport),
  refuse: (request, error) => Effect.map(refuse(request, error), strictTransport),
});
const strictTransport = (response: HttpResponse): HttpResponse =>
  response.withHeaders({ "strict-transport-security": "max-age=31536000" });

/**
 * Matches every unreadable or unroutable URL, and few others. Most URLs do not match, so they need no further tests.
 */
const unusual = /[%;#]|\/(?:[/?]|$)|^[^/]/;

/**
 * Matches URLs whose path the router would misread. The router starts a query at a semicolon or hash, reads an empty
 * segment as a parameter, and treats a URL without a leading slash as the root.
 */
const unroutable = /^[^?]*[;#]|^[^?]+\/(?:[/?]|$)|^[^/]/;

/** Whether the percent-encoding of a path and query is valid. The bundle leaves out calls whose result is not used. */
const isReadable = (url: string): boolean => {
  try {
    return decodeURIComponent(url) !== "";
  } catch {
    return false;
  }
};
