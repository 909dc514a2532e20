/**
 * The server, from the configuration to the listening socket.
 */
import { RedisHealth } from "@accountlink/cache-redis/redis_health";
import { SessionWatch } from "@accountlink/core/sessions";
import { HttpSettings, MetricsText, makeServerApp, PageSettings, Readiness } from "@accountlink/http";
import { docs, docsWith } from "@accountlink/http/docs";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Console, Deferred, Effect, Layer, Option } from "effect";
import { HttpServer } from "effect/http";
import { PrometheusMetrics } from "effect/observability";
import { Invocation } from "../cli/invocation.ts";
import { prepareFolder } from "../config/data_folder.ts";
import { pageSettingsOf } from "../config/page_settings.ts";
import type { ResolvedConfig } from "../config/resolved_config.ts";
import { networksLayer } from "../layers/networks_layer.ts";
import { serviceLayer } from "../layers/service_layer.ts";
import { resolveSecrets } from "../secrets/deployment_secret.ts";
import { exportConnections, exportProcessMetrics } from "../telemetry/process_metrics.ts";
import { telemetryLayer } from "../telemetry/telemetry.ts";
import { CurrentWorker, type Worker } from "../workers/worker.ts";
import { limitConnections } from "./connection_limits.ts";
import { demoIntroduction, demoKeyOf } from "./demo.ts";
import { answerDirectly } from "./direct_requests.ts";
import { Drain } from "./drain.ts";
import { holdRequests } from "./early_requests.ts";
import { watchFileDescriptors } from "./file_descriptors.ts";
import { guide } from "./guide.ts";
import { listenError } from "./listen_error.ts";
import { answerClientErrors, refuseMalformed } from "./malformed_requests.ts";
import { makeNodeServer } from "./node_server.ts";
import { listenForOperators } from "./operator_server.ts";
import { Refusals } from "./refusals.ts";
import { loadStartupFixture, readStartupFixture, warnOfLive } from "./startup_fixture.ts";

/**
 * Serves until it is interrupted, then drains. It has no span, which would be the parent of all
 * others.
 */
export const serve = (resolved: ResolvedConfig) =>
  Effect.flatMap(Effect.all([Invocation, CurrentWorker]), ([{ environment }, worker]) =>
    Effect.provide(Effect.scoped(serving(resolved, worker)), telemetryLayer(environment, worker?.start.id)),
  );

const serving = Effect.fnUntraced(function* (resolved: ResolvedConfig, worker: Worker | null) {
  const { config, demo, platform, storage } = resolved;
  // Everything that can fail by a wrong configuration comes before the first write.
  const fixture = yield* readStartupFixture(resolved);
  const networks = yield* Layer.build(networksLayer(config, fixture.vpnCidrs));
  if (storage.kind === "embedded") yield* prepareFolder(config, storage.folder);
  const secrets = yield* resolveSecrets(resolved);
  if (worker === null) yield* warnOfLive(platform, fixture);
  const publicUrl = yield* Deferred.make<string>();
  return yield* Effect.gen(function* () {
    yield* Effect.forkScoped(watchFileDescriptors);
    if (worker?.start.loadsFixture ?? true) yield* loadStartupFixture(fixture);
    const url = yield* listen(resolved, worker, publicUrl, demo ? demoKeyOf(fixture.text) : undefined);
    if (worker === null) {
      yield* Console.log(`listening on ${url}`);
      if (demo) yield* Console.log(demoIntroduction(url, fixture.text));
    }
    return yield* Effect.never;
  }).pipe(
    Effect.scoped,
    Effect.provide(serviceLayer(resolved, secrets, fixture.platform, Deferred.await(publicUrl), worker)),
    Effect.provideContext(networks),
  );
});

/**
 * @param publicUrlKnown is completed with the public URL once the port is open
 * @param demoKey what `/docs` tries requests with
 */
const listen = Effect.fnUntraced(function* (
  { config }: ResolvedConfig,
  worker: Worker | null,
  publicUrlKnown: Deferred.Deferred<string>,
  demoKey: string | undefined,
) {
  const address = { host: config.ACCOUNTLINK_HOST, port: config.ACCOUNTLINK_PORT };
  const drain = new Drain();
  const ready = readiness(drain);
  // Opened first, so that it is closed last and metrics are available while the server drains.
  if (worker === null) yield* Effect.provide(listenForOperators(config), ready);
  const node = makeNodeServer(config, drain);
  const close = worker?.serve(node);
  const refuseOverLimit = yield* limitConnections(node, config);
  const answerHeld = holdRequests(node);
  const server = yield* NodeHttpServer.make(() => node, address).pipe(
    Effect.mapError(({ cause }) => listenError("ACCOUNTLINK_PORT", address, cause)),
  );
  const url = HttpServer.formatAddress(server.address);
  yield* exportProcessMetrics;
  yield* exportConnections(node);
  const publicUrl = config.ACCOUNTLINK_PUBLIC_URL ?? url;
  yield* Deferred.succeed(publicUrlKnown, publicUrl);
  const { app, direct } = yield* makeServerApp.pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(HttpSettings, {
          publicUrl,
          trustedProxies: config.ACCOUNTLINK_TRUSTED_PROXIES,
          metricsElsewhere: config.ACCOUNTLINK_OPERATOR_PORT !== null,
          docs: (...place) => [
            ...(demoKey === undefined ? docs : docsWith({ demoKey }))(...place),
            ...guide(...place),
          ],
        }),
        ready,
        worker === null ? Layer.empty : metricsOfAll(worker),
        Layer.succeed(PageSettings, pageSettingsOf(config)),
      ),
    ),
  );
  yield* answerClientErrors(node, app);
  const refusals = new Refusals(node, refuseMalformed(publicUrl), refuseOverLimit);
  yield* server.serve(refusals.refuse(app));
  yield* answerDirectly(node, direct, refusals.isRefused);
  answerHeld();
  const { stop } = yield* SessionWatch;
  yield* Effect.addFinalizer(() => drain.run(node, config.ACCOUNTLINK_DRAIN_DELAY, stop, close));
  if (worker !== null) yield* Effect.provide(report(worker, url), ready);
  return url;
});

/** `/metrics` of a worker has the metrics of all processes. */
const metricsOfAll = (worker: Worker) =>
  Layer.effect(
    MetricsText,
    Effect.map(MetricsText, (own) =>
      Effect.flatMap(
        Effect.promise(() => worker.metricsOfAll()),
        (text) => (text === null ? own : Effect.succeed(text)),
      ),
    ),
  );

/** Tells the primary process that this one serves. */
const report = Effect.fnUntraced(function* (worker: Worker, url: string) {
  const { deployment, failing, degraded } = yield* Readiness;
  const run = Effect.runPromiseWith(yield* Effect.context());
  const metrics = PrometheusMetrics.format();
  worker.ready({
    deployment,
    url,
    health: () => run(Effect.all({ failing, degraded })),
    metrics: () => run(metrics),
  });
});

/**
 * A server is ready if its storage is and it is not stopping. Without Redis it is ready but
 * degraded.
 */
const readiness = (drain: Drain) =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { deployment, failing } = yield* Readiness;
      const redis = yield* Effect.serviceOption(RedisHealth);
      return Readiness.of({
        deployment,
        failing: Effect.suspend(() => (drain.isStopping ? Effect.succeed(["stopping"]) : failing)),
        degraded: Option.match(redis, {
          onNone: () => Effect.succeed([]),
          onSome: ({ isReachable }) => Effect.map(isReachable, (reachable) => (reachable ? [] : ["redis"])),
        }),
      });
    }),
  ).pipe(Layer.provide(Readiness.layerStorage));
