/**
 * The whole HTTP application: every route of the contract, the routes for operators, and an answer for everything else.
 */
import { BadRequest, type PublicError } from "@accountlink/core";
import { Context, Effect, Layer, type Scope } from "effect";
import { FindMyWay, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http";
import { docsRoutes } from "./docs_routes.ts";
import { flowRoutes } from "./flow/routes.ts";
import { type BoundRoute, isUnder, makePipeline, sign } from "./pipeline.ts";
import { RefusedRequest } from "./refused_request.ts";
import { routesV1 } from "./routes_v1.ts";
import { routesV2 } from "./routes_v2.ts";
import { sessionRoutes } from "./session_routes.ts";
import { HttpSettings } from "./settings.ts";
import { healthRoutes, isForSystem, metricsPath, metricsRoute } from "./system_routes.ts";

/** Paths are compared as they are written: a trailing or a doubled slash, or another case, is another path. */
const literally = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  // A part of a path that is no identifier is as long as it likes; Node bounds the whole.
  maxParamLength: 16_384,
};

/** Makes the application from the services of core, `HttpSettings` and `Readiness`. */
export const makeHttpApp = Effect.gen(function* () {
  const { publicUrl, metricsElsewhere = false } = yield* HttpSettings;
  const pipeline = yield* makePipeline;
  const flow = yield* flowRoutes;
  const routes = [
    ...(yield* routesV2(pipeline)),
    ...(yield* routesV1(pipeline)),
    ...(yield* sessionRoutes(pipeline)),
    ...flow.routes,
  ];

  const makeRouter = HttpRouter.make.pipe(Effect.provideService(HttpRouter.RouterConfig, literally));
  const routerOf = Effect.fnUntraced(function* (bound: ReadonlyArray<BoundRoute>) {
    const router = yield* makeRouter;
    yield* router.addAll(
      bound.map(({ method, path, answer }) => HttpRouter.route(method as "GET", path, answer)),
    );
    return router.asHttpEffect();
  });
  const routed = yield* routerOf(routes);
  const docs = yield* routerOf(yield* docsRoutes(pipeline, flow));
  const systemRouter = yield* makeRouter;
  yield* Layer.build(metricsElsewhere ? healthRoutes : Layer.merge(healthRoutes, metricsRoute)).pipe(
    Effect.provideService(HttpRouter.HttpRouter, systemRouter),
  );

  const allowedMethods = methodFinder(routes);
  const system = sign("system", systemRouter.asHttpEffect());

  const refuse = (problem: BadRequest["problem"]) => {
    const error = new BadRequest({ problem });
    const refusal = Effect.fail(error);
    const [page, envelope] = [flow.visit("unmatched", refusal), pipeline.visit("unmatched", refusal)];
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
      isUnder("/verify", url) ? page : envelope,
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
    isForSystem(request) && !(metricsElsewhere && isUnder(metricsPath, request.url))
      ? whenUnmatched(docs, whenUnmatched(system, answerUnmatched(request, "GET, HEAD, OPTIONS")))
      : answerUnmatched(request, allowedMethods(request.url)),
  );
  const answered = whenUnmatched(routed, answerOther);

  const refuseAtOnce = (error: PublicError, url: string) =>
    isUnder("/verify", url) && error._tag === "SharedIpRateLimited"
      ? flow.visit("unmatched", Effect.fail(error))
      : pipeline.visit("unmatched", Effect.fail(error));

  const app = Effect.withFiber<HttpServerResponse.HttpServerResponse, never, AppServices>((fiber) => {
    const { url } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest);
    const refused = fiber.getRef(RefusedRequest);
    if (refused !== null) return refuseAtOnce(refused, url);
    if (!unusual.test(url)) return answered;
    if (!isReadable(url)) return unreadable;
    return unroutable.test(url) ? notFound : answered;
  });
  return publicUrl.startsWith("https:") ? Effect.map(app, strictTransport) : app;
});

/** Browsers reach the host by https alone for a year. */
const strictTransport = HttpServerResponse.setHeader("strict-transport-security", "max-age=31536000");

/** Tries one router after another. What else a router could fail with is a defect. */
const whenUnmatched = <A, R, B, S>(routed: Effect.Effect<A, unknown, R>, other: Effect.Effect<B, never, S>) =>
  routed.pipe(
    Effect.catch((error): Effect.Effect<B, never, S> => (isUnmatched(error) ? other : Effect.die(error))),
  );

const isUnmatched = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound";

type AppServices = HttpServerRequest.HttpServerRequest | Scope.Scope;

/** Finds the methods of a path, as an `Allow` header lists them; null for an unknown path. */
const methodFinder = (
  routes: ReadonlyArray<{ readonly method: string; readonly path: BoundRoute["path"] }>,
) => {
  const paths = FindMyWay.make<string>(literally);
  for (const [path, sharing] of Map.groupBy(routes, (route) => route.path)) {
    const methods = sharing.map(({ method }) => method);
    if (methods.includes("GET")) methods.push("HEAD");
    paths.on("GET", path, [...methods, "OPTIONS"].join(", "));
  }
  return (url: string): string | null => paths.find("GET", url)?.handler ?? null;
};

/** What the checks of a URL look for. Most URLs have none of it and are spared them. */
const unusual = /[%;#]|\/(?:[/?]|$)/;

/**
 * The router takes a semicolon and a hash for the start of a query; in a path as it is written they are part of its
 * name. It takes an empty part, too, for a value of a parameter.
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
