import { StorageFault } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Secrets } from "@accountlink/core/secrets";
import { statusOf } from "@accountlink/http-api";
import { Context, Effect, Layer, Metric, Schedule } from "effect";
import { PrometheusMetrics } from "effect/observability";
import { type HttpApp, type HttpResponse, textResponse } from "../http_app.ts";
import { type BoundRoute, withHeaders } from "../pipeline/pipeline.ts";
import { makeLiteralRouter } from "../router.ts";

/** The health of the dependencies, for `/readyz`. */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** The ID of the deployment, which `/readyz` shows. */
    readonly deployment: string;
    /** Names of unavailable dependencies that the service needs. */
    readonly failing: Effect.Effect<ReadonlyArray<string>>;
    /** Names of unavailable dependencies that the service can do without. */
    readonly degraded: Effect.Effect<ReadonlyArray<string>>;
  }
>()("@accountlink/http/Readiness") {
  /** Ready if the storage answers within a second, and is still the one of the start. */
  static readonly layerStorage = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const keys = yield* KeyStore;
      const { deploymentId } = yield* Secrets;
      const fault = yield* StorageFault;
      let logged: string | null = null;
      const report = (found: string | null) => {
        const isNews = found !== null && found !== logged;
        logged = found;
        return isNews ? Effect.logError(`Cannot use the storage: ${found}`) : Effect.void;
      };
      const asked = keys.findAccount("").pipe(
        Effect.andThen(fault),
        Effect.timeout("1 second"),
        Effect.tap(report),
        Effect.map((found) => (found === null ? [] : ["storage"])),
        Effect.catch(() => Effect.succeed(["storage"])),
      );
      return Readiness.of({
        deployment: deploymentId,
        // Anybody may ask. Each with a question of its own, many would wait for the storage until it seemed away.
        failing: yield* Effect.cachedWithTTL(asked, 0),
        degraded: Effect.succeed([]),
      });
    }),
  );
}

const json = (status: number, body: unknown): HttpResponse =>
  textResponse(status, JSON.stringify(body), "application/json", {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });

const isReady = Metric.gauge("accountlink_ready", {
  description: "Whether this server is ready: 1 or 0",
});

/** Keeps the metric of readiness, whoever asks. @internal */
export const watchReadiness = Effect.flatMap(Readiness, ({ failing }) =>
  Effect.repeat(
    Effect.flatMap(failing, (names) => Metric.update(isReady, names.length === 0 ? 1 : 0)),
    Schedule.spaced("5 seconds"),
  ),
);

const route = (path: BoundRoute["path"], answer: Effect.Effect<HttpResponse>): BoundRoute => ({
  method: "GET",
  path,
  answer: withHeaders("system", () => answer),
});

export const healthRoutes: Effect.Effect<ReadonlyArray<BoundRoute>, never, Readiness> = Effect.map(
  Readiness,
  ({ deployment, ...readiness }) => {
    const answer = Effect.zipWith(readiness.failing, readiness.degraded, (failing, missing) => {
      const degraded = missing.length === 0 ? {} : { degraded: missing };
      return failing.length === 0
        ? json(200, { status: "ready", ...degraded, deployment })
        : json(503, { status: "unavailable", failing, ...degraded, deployment });
    });
    return [
      route("/healthz", Effect.succeed(json(200, { status: "ok" }))),
      route(
        "/readyz",
        Effect.tap(answer, ({ status }) => Metric.update(isReady, status === 200 ? 1 : 0)),
      ),
    ];
  },
);

const prometheusText = "text/plain; version=0.0.4; charset=utf-8";

export const metricsRoute: BoundRoute = route(
  "/metrics",
  Effect.map(PrometheusMetrics.format(), (metrics) => textResponse(200, metrics, prometheusText)),
);

/** Makes the application of the operator port from `Readiness`: `/metrics`, `/healthz` and `/readyz`. */
export const makeOperatorApp = Effect.map(healthRoutes, (health): HttpApp => {
  const router = makeLiteralRouter([...health, metricsRoute]);
  return {
    answer: (request) => {
      const found = router.find(request.method, request.url);
      return found === undefined ? notFound : found.answer(request, found.query);
    },
    refuse: (_, error) => Effect.succeed(text(statusOf(error), error.message)),
  };
});

const text = (status: number, line: string) => textResponse(status, `${line}\n`, "text/plain; charset=utf-8");

const notFound = Effect.succeed(text(404, "Not found"));
