import { existsSync } from "node:fs";
import { ChatPlatform, StorageUse } from "@accountlink/core";
import { Secrets } from "@accountlink/core/secrets";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Console, Effect, Layer, Metric } from "effect";
import { runBackups } from "../../backups/backups.ts";
import { Invocation } from "../../cli/invocation.ts";
import type { ResolvedConfig } from "../../config/resolved_config.ts";
import { openToOthers, prepareFolder } from "../../files/data_folder.ts";
import { demoIntroduction, demoOf } from "../../fixture/demo.ts";
import { loadStartupFixture, readStartupFixture, warnOfIgnored } from "../../fixture/startup_fixture.ts";
import { serviceLayer } from "../../layers/service_layer.ts";
import { refuseCache } from "../../layers/store_layers.ts";
import { claimPort } from "../../listening/port.ts";
import { networksLayer } from "../../networks/network_files.ts";
import { resolveSecrets, secretFile } from "../../secrets/deployment_secret.ts";
import { watchClock } from "../../serving/clock.ts";
import { watchDiskSpace } from "../../serving/disk_space.ts";
import { watchFileDescriptors } from "../../serving/file_descriptors.ts";
import { type Place, serveHttp } from "../../serving/http_server.ts";
import { telemetryLayer } from "../../telemetry/telemetry.ts";

/**
 * Runs the server until it is interrupted, then drains it. This effect has no span, since all other spans would become
 * its children.
 */
export const runServer = (resolved: ResolvedConfig) =>
  Effect.flatMap(Invocation, ({ environment }) =>
    startService(resolved, (place) =>
      Effect.andThen(Effect.forkScoped(watchFileDescriptors), serveHttp(resolved.config, place)),
    ).pipe(Effect.scoped, Effect.provide(telemetryLayer(environment))),
  );

const warnOfModes = (folder: string) =>
  Effect.forEach(
    [folder, secretFile(folder)].filter((path) => existsSync(path)),
    (path) => {
      const problem = openToOthers(path);
      return problem === null ? Effect.void : Effect.logWarning(problem);
    },
    { discard: true },
  );

const resting = Metric.gauge("accountlink_storage_resting", {
  description: "Whether the storage is a copy that acts on nobody until it is resumed: 1 or 0",
});

/** Says that the storage acts on nobody, and when it acts again. */
const warnOfRest = Effect.gen(function* () {
  const use = yield* StorageUse;
  const told = Effect.suspend(() => Metric.update(resting, use.resting() === null ? 0 : 1));
  yield* told;
  const rest = use.resting();
  if (rest === null) return;
  yield* Effect.annotateLogs(
    Effect.logWarning(
      "The storage was restored, copied or moved, and acts on nobody: role plans, reminders, log messages, webhooks and unfinished imports rest until accountlink resume",
    ),
    { since: formatTimestamp(rest.since), reason: rest.reason },
  );
  yield* Effect.repeat(Effect.delay(told, "500 millis"), { while: () => use.resting() !== null }).pipe(
    Effect.andThen(told),
    Effect.andThen(Effect.logInfo("The storage acts again")),
    Effect.forkScoped,
  );
});

const backupsOf = ({ config, storage }: ResolvedConfig) =>
  storage.kind === "embedded" && config.ACCOUNTLINK_BACKUP_DIR !== null
    ? {
        dataFolder: storage.folder,
        folder: config.ACCOUNTLINK_BACKUP_DIR,
        every: config.ACCOUNTLINK_BACKUP_EVERY,
        keep: config.ACCOUNTLINK_BACKUP_KEEP,
      }
    : null;

/** Starts the services, then calls `serve`, which opens the port. Runs until it is interrupted. */
export const startService = Effect.fnUntraced(function* <E, R>(
  resolved: ResolvedConfig,
  serve: (place: Place) => Effect.Effect<void, E, R>,
) {
  const { config, platform, storage, cache } = resolved;
  // An invalid configuration must fail before anything is written, so the configured files are read first.
  const fixture = yield* readStartupFixture(resolved);
  const networks = yield* Layer.build(networksLayer(config, fixture.vpnCidrs));
  if (storage.kind === "embedded") yield* prepareFolder(config, storage.folder);
  const secrets = yield* resolveSecrets(resolved);
  if (storage.kind === "embedded") {
    yield* warnOfModes(storage.folder);
    yield* Effect.forkScoped(watchDiskSpace(storage.folder));
  }
  const backups = backupsOf(resolved);
  yield* warnOfIgnored(platform, fixture);
  const { ACCOUNTLINK_HOST: host, ACCOUNTLINK_OPERATOR_PORT: operators } = config;
  const port = yield* claimPort("ACCOUNTLINK_PORT", { host, port: config.ACCOUNTLINK_PORT });
  const operatorPort =
    operators === null ? null : yield* claimPort("ACCOUNTLINK_OPERATOR_PORT", { host, port: operators });
  // What refuses a start does so before the storage is migrated.
  if (platform.kind === "dev" && platform.port !== 0) {
    yield* claimPort("ACCOUNTLINK_DEV_PLATFORM_PORT", { host: "127.0.0.1", port: platform.port });
  }
  yield* refuseCache(cache);
  const publicUrl = config.ACCOUNTLINK_PUBLIC_URL ?? port.url;
  return yield* Effect.gen(function* () {
    yield* warnOfRest;
    yield* watchClock;
    yield* loadStartupFixture(fixture);
    const { commands } = yield* ChatPlatform;
    const demo = resolved.demo ? demoOf(fixture.text, commands?.tryUrl) : undefined;
    const { deploymentId: identity } = yield* Secrets;
    // Before `serve`, so that a stop drains first: nothing can interrupt the copy of a backup.
    if (backups !== null) yield* Effect.forkScoped(runBackups({ ...backups, identity }));
    yield* serve({ port, operatorPort, publicUrl, demo });
    yield* Console.log(`listening on ${port.url}`);
    if (demo !== undefined) yield* Console.log(demoIntroduction(port.url, demo));
    return yield* Effect.never;
  }).pipe(
    Effect.scoped,
    Effect.provide(serviceLayer(resolved, secrets, fixture, publicUrl)),
    Effect.provideContext(networks),
  );
});
