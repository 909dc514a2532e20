/**
 * Routes for operators and readers of the documentation. They take no key.
 */
import { Api, openApi } from "@accountlink/http-api";
import { Context, Effect, Layer } from "effect";
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http";
import { HttpApiScalar } from "effect/http-api";
import { PrometheusMetrics } from "effect/observability";

/** The dependencies that have to answer before the service can. */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** The names of the dependencies that do not answer; empty when all do. */
    readonly failing: Effect.Effect<ReadonlyArray<string>>;
    /** The names of those that do not answer and that the service goes on without. */
    readonly degraded: Effect.Effect<ReadonlyArray<string>>;
  }
>()("@accountlink/http/Readiness") {}

const json = (status: number, body: unknown) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { "cache-control": "no-store" } });

const ready = Effect.gen(function* () {
  const readiness = yield* Readiness;
  return Effect.zipWith(readiness.failing, readiness.degraded, (failing, missing) => {
    const degraded = missing.length === 0 ? {} : { degraded: missing };
    return failing.length === 0
      ? json(200, { status: "ready", ...degraded })
      : json(503, { status: "unavailable", failing, ...degraded });
  });
});

/** Everything on the page is on the page: no fonts, telemetry or tools of other hosts. */
const docsPage = {
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "none",
  agent: { disabled: true },
  mcp: { disabled: true },
  authentication: { preferredSecurityScheme: "apiKey" },
};

/** The page of the documentation works with what is on it, and asks nobody but this server. */
const pagePolicy =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src 'self' data: blob:; font-src data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Gives a page the policy that browsers hold it to. */
export const withPagePolicy = (
  response: HttpServerResponse.HttpServerResponse,
): HttpServerResponse.HttpServerResponse =>
  response.headers["content-type"]?.startsWith("text/html") === true
    ? HttpServerResponse.setHeaders(response, {
        "cache-control": "public, max-age=3600",
        "content-security-policy": pagePolicy,
        "x-content-type-options": "nosniff",
      })
    : response;

const systemPaths = new Set(["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"]);

/**
 * Whether a request is for one of `systemRoutes`, all of them read with GET. No other spelling of their paths leads to
 * them, since a proxy that keeps one inside may compare it as it was sent: `url` is decoded by the router, and rid of
 * its dots where the target names a host.
 */
export const isForSystem = ({ url, originalUrl, headers }: HttpServerRequest.HttpServerRequest): boolean =>
  systemPaths.has(url.split("?", 1)[0] ?? "") &&
  ["", `http://${headers["host"]}`, `https://${headers["host"]}`].some(
    (origin) => originalUrl === origin + url,
  );

/** `/healthz`, `/readyz`, `/metrics`, `/openapi.json` and `/docs`. Nothing of them comes from another host. */
export const systemRoutes = Layer.mergeAll(
  HttpRouter.use((router) => router.add("GET", "/healthz", Effect.succeed(json(200, { status: "ok" })))),
  HttpRouter.use((router) => Effect.flatMap(ready, (answer) => router.add("GET", "/readyz", answer))),
  HttpRouter.use((router) =>
    router.add("GET", "/openapi.json", Effect.succeed(HttpServerResponse.jsonUnsafe(openApi()))),
  ),
  PrometheusMetrics.layerHttp({ path: "/metrics" }),
  HttpApiScalar.layer(Api, { path: "/docs", scalar: docsPage }),
);
