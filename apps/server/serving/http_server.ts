/** Serves the HTTP interface on a port, with connection limits, readiness, metrics and draining. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { EventWatch } from "@accountlink/core/events";
import { RoleCouriers } from "@accountlink/core/roles";
import { SessionWatch } from "@accountlink/core/sessions";
import { WebhookCouriers } from "@accountlink/core/webhooks";
import {
  HttpSettings,
  makeHttpApp,
  makeNodeListener,
  makeOperatorApp,
  Readiness,
  watchReadiness,
} from "@accountlink/http";
import { makePages, PageSettings } from "@accountlink/pages";
import { ChatSettings, LogCouriers, layerPlanNotices, layerReminders } from "@accountlink/pages/chat";
import { docsWith } from "@accountlink/pages/docs";
import { guideWith } from "@accountlink/pages/guide";
import { RedisHealth } from "@accountlink/redis/redis_health";
import { Context, Effect, Layer, Option } from "effect";
import type { Config } from "../config/config.ts";
import { chatSettingsOf, pageSettingsOf } from "../config/page_settings.ts";
import type { Demo } from "../fixture/demo.ts";
import type { Port } from "../listening/port.ts";
import { exportConnections, exportProcessMetrics } from "../telemetry/process_metrics.ts";
import { limitConnections } from "./connection_limits.ts";
import { drain } from "./drain.ts";
import { answerClientErrors, refuseMalformed } from "./malformed_requests.ts";
import { answerRequests, makeNodeServer } from "./node_server.ts";
import { RequestTurns } from "./request_turns.ts";

/** Where a server answers. */
export interface Place {
  readonly port: Port;
  /** The port of metrics and health checks; null if they are on the main port alone. */
  readonly operatorPort: Port | null;
  readonly publicUrl: string;
  /** What the pages `/` and `/docs` offer to try in the demo. */
  readonly demo: Demo | undefined;
}

/** Answers requests to a port until the scope closes. */
export const serveHttp = Effect.fnUntraced(function* (
  config: Config,
  { port, operatorPort, publicUrl, demo }: Place,
) {
  let isStopping = false;
  const ready = Layer.succeedContext(yield* Layer.build(readiness(() => isStopping)));
  const node = makeNodeServer(config);
  const turns = new RequestTurns(node, config);
  const refuseOverLimit = yield* limitConnections(node, turns, config);
  yield* exportProcessMetrics;
  yield* exportConnections(node);
  const settings = Layer.mergeAll(
    Layer.succeed(HttpSettings, {
      publicUrl,
      trustedProxies: config.ACCOUNTLINK_TRUSTED_PROXIES,
      metricsElsewhere: config.ACCOUNTLINK_OPERATOR_PORT !== null,
      docs: (url, basePath, served) => {
        const options = { hasGuide: served?.withoutCompat !== true, ...(demo && { demoKey: demo.key }) };
        return [...docsWith(options)(url, basePath, served), ...guide(url, basePath, served)];
      },
    }),
    Layer.succeed(PageSettings, { ...pageSettingsOf(config), toTry: demo?.toTry ?? [] }),
    Layer.succeed(ChatSettings, chatSettingsOf(config)),
  );
  const app = yield* makeHttpApp({ pages: makePages }).pipe(Effect.provide(Layer.merge(settings, ready)));
  yield* Layer.build(Layer.provide(Layer.merge(layerReminders, layerPlanNotices), settings));
  const log = Context.get(yield* Layer.build(Layer.provide(LogCouriers.layer, settings)), LogCouriers);
  const refuse = refuseMalformed(publicUrl);
  yield* answerRequests(node, turns, app, (...of) => refuse(...of) ?? refuseOverLimit(...of));
  yield* answerClientErrors(node, app, turns);
  yield* Effect.forkScoped(Effect.provide(watchReadiness, ready));
  // The scope closes the operator port last, so that metrics are available while the server drains.
  yield* Effect.provide(listenForOperators(operatorPort), ready);
  const [sessions, events] = [yield* SessionWatch, yield* EventWatch];
  const couriers = [yield* WebhookCouriers, yield* RoleCouriers, log];
  const stop = Effect.forEach([sessions, events, ...couriers], (service) => service.stop, { discard: true });
  yield* Effect.acquireRelease(port.open(node), () => {
    isStopping = true;
    const stopping = Effect.logInfo("Server stops: requests in flight are finished");
    return Effect.andThen(stopping, drain(node, config.ACCOUNTLINK_DRAIN_DELAY, stop));
  });
});

/**
 * A server is ready if its storage is ready and the server is not stopping. Without Redis, the server is ready but
 * degraded.
 */
const readiness = (isStopping: () => boolean) =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { deployment, failing } = yield* Readiness;
      const redis = Option.getOrUndefined(yield* Effect.serviceOption(RedisHealth));
      return Readiness.of({
        deployment,
        failing: Effect.suspend(() => (isStopping() ? Effect.succeed(["stopping"]) : failing)),
        degraded: Effect.map(redis?.isReachable ?? Effect.succeed(true), (isReachable) =>
          isReachable ? [] : ["redis"],
        ),
      });
    }),
  ).pipe(Layer.provide(Readiness.layerStorage));

/** The output folder of `npm run guide`. */
const folder = resolve(import.meta.dirname, "../../../dist/guide");

/** Reads the guide, which some checkouts and images do not contain. */
const guide = guideWith((path) =>
  readFile(join(folder, path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  }),
);

/** Serves metrics and health checks on the operator port, if one is configured, until the scope closes. */
const listenForOperators = Effect.fnUntraced(function* (port: Port | null) {
  if (port === null) return;
  const listener = yield* makeNodeListener(yield* makeOperatorApp);
  const server = createServer(listener);
  yield* Effect.acquireRelease(port.open(server), () =>
    Effect.sync(() => server.close().closeAllConnections()),
  );
  yield* Effect.annotateLogs(Effect.logInfo("Operators are served"), {
    port: Number(new URL(port.url).port),
  });
});
