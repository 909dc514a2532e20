import { existsSync } from "node:fs";
import { ChatPlatform } from "@accountlink/core";
import { Console, Effect, Layer } from "effect";
import { runBackups } from "../../backups/backups.ts";
import { Invocation } from "../../cli/invocation.ts";
import type { ResolvedConfig } from "../../config/resolved_config.ts";
import { openToOthers, prepareFolder } from "../../files/data_folder.ts";
import { type Demo, demoIntroduction, demoOf } from "../../fixture/demo.ts";
import { loadStartupFixture, readStartupFixture, warnOfIgnored } from "../../fixture/startup_fixture.ts";
import { serviceLayer } from "../../layers/service_layer.ts";
import { claimPort, type Port } from "../../listening/port.ts";
import { networksLayer } from "../../networks/network_files.ts";
import { resolveSecrets, secretFile } from "../../secrets/deployment_secret.ts";
import { watchDiskSpace } from "../../serving/disk_space.ts";
import { watchFileDescriptors } from "../../serving/file_descriptors.ts";
import { serveHttp } from "../../serving/http_server.ts";
import { telemetryLayer } from "../../telemetry/telemetry.ts";

/**
 * Runs the server until it is interrupted, then drains it. This effect has no span, since all other spans would become
 * its children.
 */
export const runServer = (resolved: ResolvedConfig) =>
  Effect.flatMap(Invocation, ({ environment }) =>
    startService(resolved, ({ port, publicUrl, demo }) =>
      Effect.andThen(
        Effect.forkScoped(watchFileDescriptors),
        serveHttp(resolved.config, port, publicUrl, demo),
      ),
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

const backupsOf = ({ config, storage }: ResolvedConfig) =>
  storage.kind === "embedded" && config.ACCOUNTLINK_BACKUP_DIR !== null
    ? {
        dataFolder: storage.folder,
        folder: config.ACCOUNTLINK_BACKUP_DIR,
        every: config.ACCOUNTLINK_BACKUP_EVERY,
        keep: config.ACCOUNTLINK_BACKUP_KEEP,
      }
    : null;

interface Place {
  readonly port: Port;
  readonly publicUrl: string;
  readonly demo: Demo | undefined;
}

/** Starts the services, then calls `serve`, which opens the port. Runs until it is interrupted. */
export const startService = Effect.fnUntraced(function* <E, R>(
  resolved: ResolvedConfig,
  serve: (place: Place) => Effect.Effect<void, E, R>,
) {
  const { config, platform, storage } = resolved;
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
  const port = yield* claimPort("ACCOUNTLINK_PORT", {
    host: config.ACCOUNTLINK_HOST,
    port: config.ACCOUNTLINK_PORT,
  });
  const publicUrl = config.ACCOUNTLINK_PUBLIC_URL ?? port.url;
  return yield* Effect.gen(function* () {
    yield* loadStartupFixture(fixture);
    const { commands } = yield* ChatPlatform;
    const demo = resolved.demo ? demoOf(fixture.text, commands?.tryUrl) : undefined;
    yield* serve({ port, publicUrl, demo });
    if (backups !== null) yield* Effect.forkScoped(runBackups(backups));
    yield* Console.log(`listening on ${port.url}`);
    if (demo !== undefined) yield* Console.log(demoIntroduction(port.url, demo));
    return yield* Effect.never;
  }).pipe(
    Effect.scoped,
    Effect.provide(serviceLayer(resolved, secrets, fixture, publicUrl)),
    Effect.provideContext(networks),
  );
});
