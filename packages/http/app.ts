/**
 * The whole HTTP application: every route of the contract, the routes for operators, and an answer for everything else.
 */
import { BadRequest } from "@accountlink/core";
import { Context, Effect, Layer, type Scope } from "effect";
import { FindMyWay, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http";
import { answerMisplaced, flowRoutes } from "./flow/routes.ts";
import { type BoundRoute, makePipeline, Pipeline, sign } from "./pipeline.ts";
import { routesV1 } from "./routes_v1.ts";
import { routesV2 } from "./routes_v2.ts";
import { sessionRoutes } from "./session_routes.ts";
import { systemPaths, systemRoutes, withPagePolicy } from "./system_routes.ts";

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
  const pipeline = yield* makePipeline;
  const routes = [
    ...(yield* routesV2.pipe(usePipeline(pipeline))),
    ...(yield* routesV1.pipe(usePipeline(pipeline))),
    ...(yield* sessionRoutes.pipe(usePipeline(pipeline))),
    ...(yield* flowRoutes),
  ];

  const makeRouter = HttpRouter.make.pipe(Effect.provideService(HttpRouter.RouterConfig, literally));
  const router = yield* makeRouter;
  yield* router.addAll(
    routes.map(({ method, path, answer }) => HttpRouter.route(method as "GET", path, answer)),
  );
  const systemRouter = yield* makeRouter;
  yield* Layer.build(systemRoutes).pipe(Effect.provideService(HttpRouter.HttpRouter, systemRouter));

  const allowedMethods = methodFinder([...routes, ...systemPaths.map((path) => ({ method: "GET", path }))]);
  const routed = router.asHttpEffect();
  const system = Effect.flatMap(systemRouter.asHttpEffect(), (response) => sign(withPagePolicy(response)));

  const answerUnmatched = (request: HttpServerRequest.HttpServerRequest) => {
    const allowed = allowedMethods(request.url);
    if (allowed === null) return pipeline.refuse(new BadRequest({ problem: "not_found" }));
    if (request.method === "OPTIONS") {
      return sign(HttpServerResponse.empty({ status: 204, headers: { allow: allowed } }));
    }
    const misplaced = answerMisplaced(request);
    return Effect.map(
      misplaced === null
        ? pipeline.refuse(new BadRequest({ problem: "method_not_allowed" }))
        : sign(misplaced),
      HttpServerResponse.setHeader("allow", allowed),
    );
  };

  const answerOther = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    whenUnmatched(system, answerUnmatched(request)),
  );
  const answered = whenUnmatched(routed, answerOther);
  const unreadable = pipeline.refuse(new BadRequest({ problem: "unreadable" }));
  const notFound = pipeline.refuse(new BadRequest({ problem: "not_found" }));

  return Effect.withFiber<HttpServerResponse.HttpServerResponse, never, AppServices>((fiber) => {
    const { url } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest);
    if (!needsALook.test(url)) return answered;
    if (!isReadable(url)) return unreadable;
    return isNoPath.test(url) ? notFound : answered;
  });
});

/** Tries one router after another. What else a router could fail with is a defect. */
const whenUnmatched = <A, R, B, S>(routed: Effect.Effect<A, unknown, R>, other: Effect.Effect<B, never, S>) =>
  routed.pipe(
    Effect.catch((error): Effect.Effect<B, never, S> => (isUnmatched(error) ? other : Effect.die(error))),
  );

const isUnmatched = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound";

type AppServices = HttpServerRequest.HttpServerRequest | Scope.Scope;

const usePipeline = (pipeline: Pipeline["Service"]) => Effect.provideService(Pipeline, pipeline);

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

const needsALook = /[%;#]|\/(?:[/?]|$)/;

/**
 * The router takes a semicolon and a hash for the start of a query; in a path as it is written they are part of its
 * name. It takes an empty part, too, for a value of a parameter.
 */
const isNoPath = /^[^?]*[;#]|^[^?]+\/(?:[/?]|$)/;

/** Whether the percent-encoding of a path and query can be read. */
const isReadable = (url: string): boolean => {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
};
