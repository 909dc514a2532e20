/**
 * Routes for operators. No key needed.
 */
import { Context, Effect, Layer, Metric } from "effect";
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http";
import { PrometheusMetrics } from "effect/observability";
import { docsPaths } from "./docs_routes.ts";

/** The health of the dependencies. */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** Identifies the deployment. */
    readonly deployment: string;
    /** Names of unavailable dependencies that the service needs. */
    readonly failing: Effect.Effect<ReadonlyArray<string>>;
    /** Names of unavailable dependencies that the service can do without. */
    readonly degraded: Effect.Effect<ReadonlyArray<string>>;
  }
>()("@accountlink/http/Readiness") {}

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

/** The path of the metrics, on either port. */
export const metricsPath = "/metrics";
const systemPaths = new Set<string>(["/healthz", "/readyz", metricsPath, ...Object.values(docsPaths)]);

/**
 * Whether a request is for one of these routes. Only the literal spelling of a path matches, so
 * that a proxy which blocks the path blocks every request for it: the router decodes `url`, and
 * resolves dots where the target names a host.
 */
export const isForSystem = ({ url, originalUrl, headers }: HttpServerRequest.HttpServerRequest): boolean =>
  systemPaths.has(url.split("?", 1)[0] ?? "") &&
  ["", `http://${headers["host"]}`, `https://${headers["host"]}`].some(
    (origin) => originalUrl === origin + url,
  );

/** `/healthz` and `/readyz`. */
export const healthRoutes = Layer.mergeAll(
  HttpRouter.use((router) => router.add("GET", "/healthz", Effect.succeed(json(200, { status: "ok" })))),
  HttpRouter.use((router) => Effect.flatMap(ready, (answer) => router.add("GET", "/readyz", answer))),
);

/** `/metrics`. */
export const metricsRoute = PrometheusMetrics.layerHttp({ path: metricsPath });
