/**
 * The server, from the configuration to the listening socket.
 */
import { RedisHealth } from "@accountlink/cache-redis/redis_health";
import { SessionWatch } from "@accountlink/core/sessions";
import { HttpSettings, makeHttpApp, PageSettings, Readiness } from "@accountlink/http";
import { docs, docsWith } from "@accountlink/http/docs";
import { Console, Effect, Layer, Option } from "effect";
import { Invocation } from "../cli/invocation.ts";
import type { Config } from "../config/config.ts";
import { prepareFolder } from "../config/data_folder.ts";
import { pageSettingsOf } from "../config/page_settings.ts";
import type { ResolvedConfig } from "../config/resolved_config.ts";
import { networksLayer } from "../layers/networks_layer.ts";
import { serviceLayer } from "../layers/service_layer.ts";
import { resolveSecrets } from "../secrets/deployment_secret.ts";
import { exportConnections, exportProcessMetrics } from "../telemetry/process_metrics.ts";
import { telemetryLayer } from "../telemetry/telemetry.ts";
import { limitConnections } from "./connection_limits.ts";
import { demoIntroduction, demoKeyOf } from "./demo.ts";
import { Drain } from "./drain.ts";
import { watchFileDescriptors } from "./file_descriptors.ts";
import { guide } from "./guide.ts";
import { answerClientErrors, refuseMalformed } from "./malformed_requests.ts";
import { makeNodeServer } from "./node_server.ts";
import { listenForOperators } from "./operator_server.ts";
import { claimPort, type Port } from "./port.ts";
import { answerRequests } from "./requests.ts";
import { loadStartupFixture, readStartupFixture, warnOfLive } from "./startup_fixture.ts";

/**
 * Serves until it is interrupted, then drains. It has no span, which would be the parent of all
 * others.
 */
export const serve = (resolved: ResolvedConfig) =>
  Effect.flatMap(Invocation, ({ environment }) =>
    Effect.provide(Effect.scoped(serving(resolved)), telemetryLayer(environment)),
  );

const serving = Effect.fnUntraced(function* (resolved: ResolvedConfig) {
  const { config, demo, platform, storage } = resolved;
  // Everything that can fail by a wrong configuration comes before the first write.
  const fixture = yield* readStartupFixture(resolved);
  const networks = yield* Layer.build(networksLayer(config, fixture.vpnCidrs));
  if (storage.kind === "embedded") yield* prepareFolder(config, storage.folder);
  const secrets = yield* resolveSecrets(resolved);
  yield* warnOfLive(platform, fixture);
  const port = yield* claimPort("ACCOUNTLINK_PORT", {
    host: config.ACCOUNTLINK_HOST,
    port: config.ACCOUNTLINK_PORT,
  });
  const publicUrl = config.ACCOUNTLINK_PUBLIC_URL ?? port.url;
  return yield* Effect.gen(function* () {
    yield* Effect.forkScoped(watchFileDescriptors);
    yield* loadStartupFixture(fixture);
    yield* listen(config, port, publicUrl, demo ? demoKeyOf(fixture.text) : undefined);
    yield* Console.log(`listening on ${port.url}`);
    if (demo) yield* Console.log(demoIntroduction(port.url, fixture.text));
    return yield* Effect.never;
  }).pipe(
    Effect.scoped,
    Effect.provide(serviceLayer(resolved, secrets, fixture.platform, publicUrl)),
    Effect.provideContext(networks),
  );
});

/** @param demoKey what `/docs` tries requests with */
const listen = Effect.fnUntraced(function* (
  config: Config,
  port: Port,
  publicUrl: string,
  demoKey: string | undefined,
) {
  const drain = new Drain();
  const ready = readiness(drain);
  const node = makeNodeServer(config, drain);
  const refuseOverLimit = yield* limitConnections(node, config);
  yield* exportProcessMetrics;
  yield* exportConnections(node);
  const app = yield* makeHttpApp.pipe(
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
        Layer.succeed(PageSettings, pageSettingsOf(config)),
      ),
    ),
  );
  yield* answerRequests(node, app, [refuseMalformed(publicUrl), refuseOverLimit]);
  yield* answerClientErrors(node, app);
  // Closed last, so that metrics are available while the server drains.
  yield* Effect.provide(listenForOperators(config), ready);
  const { stop } = yield* SessionWatch;
  yield* Effect.acquireRelease(port.open(node), () => drain.run(node, config.ACCOUNTLINK_DRAIN_DELAY, stop));
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
