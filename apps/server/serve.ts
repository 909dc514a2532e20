/**
 * The server: from a plan to a listening socket, and back.
 */
import { CacheRedis } from "@accountlink/cache-redis";
import { KeyStore, Secrets, SessionWatch } from "@accountlink/core";
import { HttpSettings, makeHttpApp, PageSettings, Readiness } from "@accountlink/http";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Console, Deferred, Effect, Layer, Option } from "effect";
import { HttpServer } from "effect/http";
import { capConnections } from "./connection_caps.ts";
import { demoIntroduction } from "./demo.ts";
import { Drain } from "./drain.ts";
import { watchFileDescriptors } from "./file_descriptors.ts";
import { listenRefused } from "./internal/listen_refused.ts";
import { prepareFolder } from "./internal/prepare_folder.ts";
import { serviceLayer } from "./layers.ts";
import { answerClientErrors, refuseMalformed } from "./malformed_requests.ts";
import { makeNodeServer } from "./node_server.ts";
import { listenForOperators } from "./operator_server.ts";
import { pageSettingsOf } from "./page_settings.ts";
import type { Plan } from "./plan.ts";
import { exportConnections, exportProcessMetrics } from "./process_metrics.ts";
import { resolveSecrets } from "./secret.ts";
import { loadStartupFixture, readStartupFixture, type StartupFixture } from "./startup_fixture.ts";
import { telemetryLayer } from "./telemetry.ts";

/** Serves until it is interrupted; then it drains. It has no span itself, which all others would be a part of. */
export const serve = (plan: Plan) => Effect.provide(serving(plan), telemetryLayer(process.env));

const serving = Effect.fnUntraced(function* (plan: Plan) {
  const { config, demo, platform, storage } = plan;
  // A start that is refused leaves nothing behind: what can be refused comes before what makes something.
  const fixture = yield* readStartupFixture(plan);
  if (storage.kind === "embedded") yield* prepareFolder(config, storage.folder);
  const secrets = yield* resolveSecrets(plan);
  if (platform.kind === "live") yield* warnOfLive(platform.publicUrl, fixture);
  const publicUrl = yield* Deferred.make<string>();
  return yield* Effect.gen(function* () {
    yield* Effect.forkScoped(watchFileDescriptors);
    yield* loadStartupFixture(fixture);
    const url = yield* listen(plan, publicUrl);
    yield* Console.log(`listening on ${url}`);
    if (demo) yield* Console.log(demoIntroduction(url, fixture.text));
    return yield* Effect.never;
  }).pipe(
    Effect.scoped,
    Effect.provide(serviceLayer(plan, secrets, fixture.platform, Deferred.await(publicUrl))),
  );
});

/** What a service on live platforms is likely to have by mistake. */
const warnOfLive = Effect.fnUntraced(function* (publicUrl: string, fixture: StartupFixture) {
  if (!publicUrl.startsWith("https:")) {
    yield* Effect.logWarning(`ACCOUNTLINK_PUBLIC_URL is "${publicUrl}", expected https`);
  }
  if (Object.values(fixture.platform).some((entries) => entries.length > 0)) {
    yield* Effect.logWarning(
      'Ignored "platform" in ACCOUNTLINK_FIXTURE: ACCOUNTLINK_PLATFORM is live, expected dev to play it',
    );
  }
});

/** @param publicUrlKnown is told where users reach the service */
const listen = Effect.fnUntraced(function* ({ config }: Plan, publicUrlKnown: Deferred.Deferred<string>) {
  const address = { host: config.ACCOUNTLINK_HOST, port: config.ACCOUNTLINK_PORT };
  const drain = new Drain();
  const ready = readiness(drain);
  // Opened first, so that it is closed last: metrics can be read while the server drains.
  yield* Effect.provide(listenForOperators(config), ready);
  const node = makeNodeServer(config, drain);
  const capped = yield* capConnections(node, config);
  const server = yield* NodeHttpServer.make(() => node, address).pipe(
    Effect.mapError(({ cause }) => listenRefused("ACCOUNTLINK_PORT", address, cause)),
  );
  const url = HttpServer.formatAddress(server.address);
  yield* exportProcessMetrics;
  yield* exportConnections(node);
  const publicUrl = config.ACCOUNTLINK_PUBLIC_URL ?? url;
  yield* Deferred.succeed(publicUrlKnown, publicUrl);
  const app = yield* makeHttpApp.pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(HttpSettings, {
          publicUrl,
          trustedProxies: config.ACCOUNTLINK_TRUSTED_PROXIES,
          metricsElsewhere: config.ACCOUNTLINK_OPERATOR_PORT !== null,
        }),
        ready,
        Layer.succeed(PageSettings, pageSettingsOf(config)),
      ),
    ),
  );
  yield* answerClientErrors(node, app);
  yield* server.serve(refuseMalformed(capped(app), publicUrl));
  const { release } = yield* SessionWatch;
  yield* Effect.addFinalizer(() => drain.run(node, config.ACCOUNTLINK_DRAIN_DELAY, release));
  return url;
});

/**
 * Ready means that the stores answer within a second, and that the server was not told to stop. The service goes on
 * without Redis, and says so.
 */
const readiness = (drain: Drain) =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const keys = yield* KeyStore;
      const redis = yield* Effect.serviceOption(CacheRedis.RedisHealth);
      const failingStores = keys.findAccount("").pipe(
        Effect.timeout("1 second"),
        Effect.as([]),
        Effect.catch(() => Effect.succeed(["storage"])),
      );
      const { deploymentId } = yield* Secrets;
      return Readiness.of({
        deployment: deploymentId,
        failing: Effect.suspend(() => (drain.isStopping ? Effect.succeed(["stopping"]) : failingStores)),
        degraded: Option.match(redis, {
          onNone: () => Effect.succeed([]),
          onSome: ({ isReachable }) => Effect.map(isReachable, (reachable) => (reachable ? [] : ["redis"])),
        }),
      });
    }),
  );
