/**
 * Routes for operators. No key needed.
 */
import { Effect, Layer, Metric } from "effect";
import { HttpRouter, HttpServerResponse } from "effect/http";
import { PrometheusMetrics } from "effect/observability";
import { Readiness } from "./readiness.ts";
import { metricsPath } from "./system_paths.ts";

const json = (status: number, body: unknown) =>
  HttpServerResponse.jsonUnsafe(body, {
    status,
    headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" },
  });

const isReady = Metric.gauge("accountlink_ready", {
  description: "Whether /readyz last answered 200: 1 or 0",
});

const ready = Effect.gen(function* () {
  const readiness = yield* Readiness;
  const { deployment } = readiness;
  const answer = Effect.zipWith(readiness.failing, readiness.degraded, (failing, missing) => {
    const degraded = missing.length === 0 ? {} : { degraded: missing };
    return failing.length === 0
      ? json(200, { status: "ready", ...degraded, deployment })
      : json(503, { status: "unavailable", failing, ...degraded, deployment });
  });
  return Effect.tap(answer, ({ status }) => Metric.update(isReady, status === 200 ? 1 : 0));
});

/** `/healthz` and `/readyz`. */
export const healthRoutes = Layer.mergeAll(
  HttpRouter.use((router) => router.add("GET", "/healthz", Effect.succeed(json(200, { status: "ok" })))),
  HttpRouter.use((router) => Effect.flatMap(ready, (answer) => router.add("GET", "/readyz", answer))),
);

/** `/metrics`. */
export const metricsRoute = PrometheusMetrics.layerHttp({ path: metricsPath });
