/**
 * The application of the operator port: `/metrics`, `/healthz` and `/readyz`.
 */
import { Effect, Layer } from "effect";
import { HttpRouter, HttpServerError, HttpServerResponse } from "effect/http";
import { healthRoutes, metricsRoute } from "./system_routes.ts";

/** Makes the application from `Readiness`. */
export const makeOperatorApp = Effect.gen(function* () {
  const router = yield* HttpRouter.make;
  yield* Layer.build(Layer.merge(healthRoutes, metricsRoute)).pipe(
    Effect.provideService(HttpRouter.HttpRouter, router),
  );
  return router
    .asHttpEffect()
    .pipe(
      Effect.catch((error) =>
        HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"
          ? Effect.succeed(HttpServerResponse.text("Not found\n", { status: 404 }))
          : Effect.die(error),
      ),
    );
});
