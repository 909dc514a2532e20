/**
 * The primary process of several workers. It opens the port, hands each connection to a worker, and
 * answers operators. It reads no request of a client.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { MetricsText, Readiness } from "@accountlink/http";
import { StorageSql } from "@accountlink/storage-sql";
import { Console, Deferred, Effect, Layer } from "effect";
import { PrometheusMetrics } from "effect/observability";
import { Invocation } from "../cli/invocation.ts";
import { AlreadyReported } from "../cli/report.ts";
import type { Config } from "../config/config.ts";
import { prepareFolder, unusableFolder } from "../config/data_folder.ts";
import type { ResolvedConfig } from "../config/resolved_config.ts";
import { startDevPlatform } from "../layers/platform_layer.ts";
import { resolveSecrets } from "../secrets/deployment_secret.ts";
import { demoIntroduction } from "../serving/demo.ts";
import { closePort } from "../serving/drain.ts";
import { listenError } from "../serving/listen_error.ts";
import { listenForOperators } from "../serving/operator_server.ts";
import { readStartupFixture, warnOfLive } from "../serving/startup_fixture.ts";
import { exportProcessMetrics } from "../telemetry/process_metrics.ts";
import { makeHeldCache } from "./held_cache.ts";
import { WorkerPool, type WorkerPoolOptions } from "./worker_pool.ts";

/** Serves by workers until it is interrupted, then lets them drain. */
export const serve = (resolved: ResolvedConfig) => Effect.scoped(serving(resolved));

const serving = Effect.fnUntraced(function* (resolved: ResolvedConfig) {
  const { config, demo, platform, storage } = resolved;
  // What all workers would create or refuse.
  const fixture = yield* readStartupFixture(resolved);
  if (storage.kind === "embedded") {
    yield* prepareFolder(config, storage.folder);
    yield* StorageSql.acquireProcessLock(storage.folder).pipe(
      Effect.catchTag("SqlError", (cause) => Effect.fail(unusableFolder(config, cause))),
    );
  }
  yield* resolveSecrets(resolved);
  yield* warnOfLive(platform, fixture);

  const publicUrl = yield* Deferred.make<string>();
  const devPlatform =
    platform.kind === "dev"
      ? yield* startDevPlatform(platform, fixture.platform, Deferred.await(publicUrl))
      : null;
  yield* exportProcessMetrics;
  const pool = yield* startPool(resolved.workers, devPlatform);
  // A worker that cannot start has reported why.
  if (!(yield* Effect.promise(() => pool.prepare()))) return yield* new AlreadyReported();

  const server = yield* listen(config, pool);
  const service = yield* Effect.promise(() => pool.open(server.address() as AddressInfo));
  if (service === null) return yield* new AlreadyReported();
  const { deployment, url } = service;
  yield* Deferred.succeed(publicUrl, config.ACCOUNTLINK_PUBLIC_URL ?? url);
  // Closed after the drain, during which metrics are available.
  yield* Effect.provide(listenForOperators(config), operatorLayer(pool, deployment));
  yield* Effect.addFinalizer(() => drain(pool, server, config.ACCOUNTLINK_DRAIN_DELAY));
  yield* Console.log(`listening on ${url}`);
  if (demo) yield* Console.log(demoIntroduction(url, fixture.text));
  return yield* Effect.never;
});

const startPool = Effect.fnUntraced(function* (size: number, devPlatform: WorkerPoolOptions["devPlatform"]) {
  const shell = yield* Invocation;
  const cache = yield* makeHeldCache;
  const context = yield* Effect.context();
  const run = Effect.runForkWith(context);
  return yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new WorkerPool({
          size,
          shell,
          devPlatform,
          cache,
          metrics: () => PrometheusMetrics.formatUnsafe(context),
          onServing: (worker) => {
            run(Effect.annotateLogs(Effect.logInfo("A worker serves"), worker));
          },
          onUnexpectedEnd: (end) => {
            run(Effect.annotateLogs(Effect.logError("A worker ended and will be replaced"), { ...end }));
          },
        }),
    ),
    (pool) =>
      Effect.promise(() => {
        pool.stop();
        return pool.drain();
      }),
  );
});

const listen = (config: Config, pool: WorkerPool) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        // Workers read what a client sends.
        const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => pool.hand(socket));
        server.maxConnections = config.ACCOUNTLINK_CONNECTIONS;
        server.listen({ host: config.ACCOUNTLINK_HOST, port: config.ACCOUNTLINK_PORT });
        await once(server, "listening");
        return server;
      },
      catch: (cause) =>
        listenError(
          "ACCOUNTLINK_PORT",
          { host: config.ACCOUNTLINK_HOST, port: config.ACCOUNTLINK_PORT },
          cause,
        ),
    }),
    (server) => Effect.sync(() => server.close()),
  );

const operatorLayer = (pool: WorkerPool, deployment: string) =>
  Layer.merge(
    Layer.succeed(Readiness, {
      deployment,
      failing: Effect.promise(async () => (await pool.health()).failing),
      degraded: Effect.promise(async () => (await pool.health()).degraded),
    }),
    Layer.succeed(
      MetricsText,
      Effect.promise(() => pool.metrics()),
    ),
  );

const drain = Effect.fnUntraced(function* (pool: WorkerPool, server: Server, delay: number) {
  pool.stop();
  yield* Effect.sleep(delay);
  yield* Effect.promise(() => closePort(server));
  const drained = yield* Effect.promise(() => pool.drain());
  if (!drained) process.exitCode = 1;
});
