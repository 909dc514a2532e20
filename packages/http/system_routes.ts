/**
 * Routes for operators. They take no key.
 */
import { Context, Effect, Layer, Metric } from "effect";
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http";
import { PrometheusMetrics } from "effect/observability";
import { docsPaths } from "./docs_routes.ts";

/** The dependencies that have to answer before the service can. */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** Names the deployment, so that whoever asks can tell it from another one. */
    readonly deployment: string;
    /** The names of the dependencies that do not answer; empty when all do. */
    readonly failing: Effect.Effect<ReadonlyArray<string>>;
    /** The names of those that do not answer and that the service goes on without. */
    readonly degraded: Effect.Effect<ReadonlyArray<string>>;
  }
>()("@accountlink/http/Readiness") {}

const json = (status: number, body: unknown) =>
  HttpServerResponse.jsonUnsafe(body, {
    status,
    headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" },
  });

const isReady = Metric.gauge("accountlink_ready", {
  description: "Whether /readyz answered 200 the last time that it was asked: 1 or 0",
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

/** Where `/metrics` is, here or on the port for operators. */
export const metricsPath = "/metrics";
const systemPaths = new Set<string>(["/healthz", "/readyz", metricsPath, ...Object.values(docsPaths)]);

/**
 * Whether a request is for one of these routes, all of them read with GET. No other spelling of their paths leads to
 * them, since a proxy that keeps one inside may compare it as it was sent: `url` is decoded by the router, and rid of
 * its dots where the target names a host.
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
