/**
 * The HTTP application: the routes of the contract, the flow, documentation and operators, and a
 * response to everything else.
 */
import type { PublicError } from "@accountlink/core";
import { BadRequest } from "@accountlink/core/errors";
import { groupBy } from "@accountlink/core/group_by";
import * as Immediate from "@accountlink/core/immediate";
import { Context, Effect, Layer, type Scope } from "effect";
import { FindMyWay, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http";
import { altRoutes } from "./alts/alt_routes.ts";
import { dashboardRoutes } from "./dashboard/dashboard_routes.ts";
import { type DirectRequests, directRequests } from "./direct_requests.ts";
import { flowRoutes } from "./flow/routes.ts";
import { leakRoutes } from "./keys/leak_routes.ts";
import { routesV1 } from "./links/routes_v1.ts";
import { routesV2 } from "./links/routes_v2.ts";
import { meRoutes } from "./me/me_routes.ts";
import { basePathOf, mount } from "./mount.ts";
import { privateHeaders } from "./pages/page.ts";
import { type BoundRoute, isUnder, makePipeline, withHeaders } from "./pipeline/pipeline.ts";
import { type HttpApp, RefusedRequest } from "./pipeline/refused_request.ts";
import { sessionRoutes } from "./sessions/session_routes.ts";
import { HttpSettings } from "./settings.ts";
import { docsRoutes } from "./system/docs_routes.ts";
import { systemTest } from "./system/system_paths.ts";
import { healthRoutes, metricsRoute } from "./system/system_routes.ts";

/** Paths are compared routerConfig: slashes and case count. */
const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  // Node limits the whole URL.
  maxParamLength: 16_384,
};

/**
 * The application, and the requests that need nothing of Effect's HTTP server.
 *
 * @internal
 */
export interface ServerApp {
  readonly app: HttpApp;
  readonly direct: DirectRequests;
}

/**
 * Makes the application, and what a server may ask directly, from the services of `makeHttpApp`.
 *
 * @internal
 */
export const makeServerApp = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const { publicUrl, metricsElsewhere = false } = settings;
  const makeRouter = HttpRouter.make.pipe(Effect.provideService(HttpRouter.RouterConfig, routerConfig));
  const routerOf = Effect.fnUntraced(function* (bound: ReadonlyArray<BoundRoute>) {
    const router = yield* makeRouter;
    yield* router.addAll(bound.map(({ method, path, answer }) => HttpRouter.route(method, path, answer)));
    return router.asHttpEffect();
  });

  const pipeline = yield* makePipeline;
  const flow = yield* flowRoutes;
  const me = yield* meRoutes;
  const linkRoutes = yield* routesV2(pipeline);
  const dashboard = yield* dashboardRoutes(Effect.orDie(yield* routerOf(linkRoutes)));
  const routes = [
    ...linkRoutes,
    ...(yield* leakRoutes(pipeline)),
    ...(yield* routesV1(pipeline)),
    ...(yield* altRoutes(pipeline)),
    ...(yield* sessionRoutes(pipeline)),
    ...flow.routes,
    ...dashboard.routes,
    ...me.routes,
  ];

  /** What answers errors outside of the routes, by the path. */
  const pagesFor = (url: string) => {
    if (isUnder("/verify", url)) return flow;
    if (isUnder("/dashboard", url) && !isUnder(dashboardApi, url)) return dashboard;
    return isUnder("/me", url) ? me : pipeline;
  };

  const routed = yield* routerOf(routes);
  const basePath = basePathOf(settings);
  const documents = docsRoutes(settings.docs?.(publicUrl, basePath) ?? [], pipeline, flow);
  const docs = yield* routerOf(documents);
  const systemRouter = yield* makeRouter;
  yield* Layer.build(metricsElsewhere ? healthRoutes : Layer.merge(healthRoutes, metricsRoute)).pipe(
    Effect.provideService(HttpRouter.HttpRouter, systemRouter),
  );

  const allowedMethods = methodFinder(routes);
  const isForSystem = systemTest(
    settings,
    documents.map(({ path }) => path),
  );
  const system = withHeaders("system", systemRouter.asHttpEffect());

  const refuse = (problem: BadRequest["problem"]) => {
    const refusal = Effect.fail(new BadRequest({ problem }));
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
      pagesFor(url).visit("unmatched", refusal),
    );
  };
  const unreadable = refuse("unreadable");
  const notFound = refuse("not_found");
  const methodNotAllowed = refuse("method_not_allowed");

  const answerUnmatched = (request: HttpServerRequest.HttpServerRequest, allowed: string | null) => {
    if (allowed === null) return notFound;
    if (request.method === "OPTIONS") {
      const answer = HttpServerResponse.empty({ status: 204, headers: { allow: allowed } });
      return pipeline.visit("options", Effect.succeed(answer));
    }
    return Effect.map(methodNotAllowed, (response) =>
      response.status === 405 ? HttpServerResponse.setHeader(response, "allow", allowed) : response,
    );
  };

  const answerOther = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    isForSystem(request)
      ? whenUnmatched(docs, whenUnmatched(system, answerUnmatched(request, "GET, HEAD, OPTIONS")))
      : answerUnmatched(request, allowedMethods(request.url)),
  );
  const answered = whenUnmatched(routed, answerOther);

  const refuseEarly = (error: PublicError, url: string) =>
    error._tag === "SharedIpRateLimited"
      ? pagesFor(url).visit("unmatched", Effect.fail(error))
      : pipeline.visit("unmatched", Effect.fail(error));

  const answerTo = (url: string, refused: PublicError | null) => {
    if (refused !== null) return refuseEarly(refused, url);
    if (!unusual.test(url)) return answered;
    if (!isReadable(url)) return unreadable;
    return unroutable.test(url) ? notFound : answered;
  };
  const app = Effect.withFiber<HttpServerResponse.HttpServerResponse, never, AppServices>((fiber) => {
    const { url } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest);
    const answer = answerTo(url, fiber.getRef(RefusedRequest));
    return isUnder(dashboardApi, url) ? Effect.map(answer, unframed) : answer;
  });
  const mounted = mount(basePath, app, notFound);
  const direct = directRequests(routes);
  if (!publicUrl.startsWith("https:")) return { app: mounted, direct } satisfies ServerApp;
  const strictDirect: DirectRequests = (request, remoteAddress) => {
    const answer = direct(request, remoteAddress);
    return answer && Immediate.map(answer, strictTransport);
  };
  return { app: Effect.map(mounted, strictTransport), direct: strictDirect } satisfies ServerApp;
});

/**
 * Makes the application from the services of core, `HttpSettings` and `Readiness`.
 *
 * @example
 * ```ts
 * import { type HttpApp, HttpSettings, Readiness } from "@accountlink/http";
 * import { MemoryWorld } from "@accountlink/testing";
 * import { Effect, Layer } from "effect";
 * import { HttpEffect } from "effect/http";
 *
 * const settings = { publicUrl: "https://links.example", trustedProxies: [], withoutAddresses: true };
 * const pages = { chatName: "Discord", gameName: "Roblox", chatHome: null, privacyUrl: null, contact: null };
 * const services = Layer.mergeAll(
 *   Readiness.layerStorage,
 *   Layer.succeed(HttpSettings, settings),
 *   Layer.succeed(PageSettings, pages),
 * ).pipe(Layer.provideMerge(MemoryWorld.layer()));
 *
 * const statuses = Effect.gen(function* () {
 *   const handlerOf = HttpEffect.toWebHandlerWith<never, Effect.Services<HttpApp>>(yield* Effect.context());
 *   const [users, operators] = [handlerOf(yield* makeHttpApp), handlerOf(yield* makeOperatorApp)];
 *   const answers = [
 *     users(new Request("https://links.example/v2/chat?chatId=100001")),
 *     operators(new Request("http://127.0.0.1:9090/readyz")),
 *   ];
 *   return yield* Effect.promise(async () => (await Promise.all(answers)).map(({ status }) => status));
 * });
 * await Effect.runPromise(Effect.scoped(Effect.provide(statuses, services))); // [401, 200]
 * ```
 */
export const makeHttpApp = Effect.map(makeServerApp, ({ app }): HttpApp => app);

/** Its answers are for the signed-in browser, as the pages are. */
const dashboardApi = "/dashboard/api";

const unframed = HttpServerResponse.setHeader("x-frame-options", privateHeaders["x-frame-options"]);

/** Browsers use https alone for a year. */
const strictTransport = HttpServerResponse.setHeader("strict-transport-security", "max-age=31536000");

/** Tries the second router where the first has no route. Other router errors are defects. */
const whenUnmatched = <A, R, B, S>(routed: Effect.Effect<A, unknown, R>, other: Effect.Effect<B, never, S>) =>
  routed.pipe(
    Effect.catch((error): Effect.Effect<B, never, S> => (isUnmatched(error) ? other : Effect.die(error))),
  );

const isUnmatched = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound";

type AppServices = HttpServerRequest.HttpServerRequest | Scope.Scope;

/** Finds the `Allow` header of a path; null for an unknown path. */
const methodFinder = (
  routes: ReadonlyArray<{ readonly method: string; readonly path: BoundRoute["path"] }>,
) => {
  const paths = FindMyWay.make<string>(routerConfig);
  for (const [path, sharing] of groupBy(routes, (route) => route.path)) {
    const methods = sharing.map(({ method }) => method);
    if (methods.includes("GET")) methods.push("HEAD");
    paths.on("GET", path, [...methods, "OPTIONS"].join(", "));
  }
  return (url: string): string | null => paths.find("GET", url)?.handler ?? null;
};

/** A URL that needs the checks below; most do not. */
const unusual = /[%;#]|\/(?:[/?]|$)/;

/**
 * Paths that the router would misread: it starts a query at a semicolon or hash, and takes an empty
 * segment for a parameter.
 */
const unroutable = /^[^?]*[;#]|^[^?]+\/(?:[/?]|$)/;

/** Whether the percent-encoding of a path and query can be read. */
const isReadable = (url: string): boolean => {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
};
