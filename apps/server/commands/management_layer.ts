/** The services of the management commands, which work while a server is running. */
import { Accounts, ApiKeys, UserData } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import { Limits } from "@accountlink/core/limits";
import { StoredPlans } from "@accountlink/core/roles";
import { UserExports } from "@accountlink/core/users";
import { Webhooks } from "@accountlink/core/webhooks";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { NodeWebhookSender } from "accountlink/webhook_sender";
import { Effect, Layer, Logger } from "effect";
import { givenConfig } from "../cli/invocation.ts";
import { CommandFailed } from "../cli/report.ts";
import { type Config, InvalidConfig } from "../config/config.ts";
import { limitsOf } from "../config/limits.ts";
import {
  cacheOf,
  isDemo,
  locationOf,
  type PersistentStorage,
  StorageLocation,
  storageOf,
} from "../config/resolved_config.ts";
import { folderExists, prepareFolder } from "../files/data_folder.ts";
import { cacheLayer, redis, refuseCache, storageLayer } from "../layers/store_layers.ts";
import { cryptoLayer } from "../secrets/crypto_layer.ts";
import { deploymentKeysLayer, resolveSecrets } from "../secrets/deployment_secret.ts";

/**
 * Commands wait longer for a database connection than requests do: no client waits for a command, and the database may
 * be busy.
 */
export const connectTimeout = "10 seconds";

/**
 * Opens the storage that `serve` would use with the same environment variables, and finds its secret.
 *
 * @param whenNew whether to initialize a storage without data, as `serve` does, or to refuse it
 */
export const openStorage = Effect.fnUntraced(function* (whenNew: "make" | "refuse") {
  const config = yield* givenConfig;
  const storage = yield* storageOf(config);
  if (storage.kind === "memory") {
    return yield* new InvalidConfig({
      problem:
        'ACCOUNTLINK_STORAGE is "memory", which exists only inside its server, expected embedded, postgres or redis',
    });
  }
  if (storage.kind === "embedded") {
    yield* folderExists(config, storage.folder);
    if (!StorageSql.hasDatabase(storage.folder)) yield* prepareNewFolder(config, storage.folder, whenNew);
  } else if (storage.kind === "postgres" && whenNew === "refuse") {
    const { path, schema, setAside } = yield* StoragePostgres.inspectPostgres({ ...storage, connectTimeout });
    if (schema.version === 0) {
      const why =
        setAside === null
          ? "which has no data of a server, expected a server's database"
          : StoragePostgres.cutOff(setAside);
      return yield* new InvalidConfig({ problem: `ACCOUNTLINK_DATABASE_URL leads to "${path}", ${why}` });
    }
  }
  // Resolve the secret before the database is created, since the database cannot be opened again without it.
  const secrets = yield* resolveSecrets({ config, storage });
  return { config, storage, secrets, location: locationOf(storage) };
});

const prepareNewFolder = (config: Config, folder: string, whenNew: "make" | "refuse") => {
  if (whenNew === "refuse") {
    return new CommandFailed({
      problem:
        `Cannot open the database: data folder "${folder}" holds none, expected the folder of ` +
        `a server (ACCOUNTLINK_STORAGE, ACCOUNTLINK_PLATFORM, ACCOUNTLINK_FIXTURE and ACCOUNTLINK_DATA_DIR tell which, as for serve)`,
    });
  }
  // Commands do not create the demo's data folder: an operator who forgot to set a variable would otherwise write to
  // the demo instead of the server's storage.
  if (isDemo(config)) {
    return new CommandFailed({
      problem:
        `Cannot make data folder "${folder}": it is the demo's, which only serve creates, ` +
        `expected ACCOUNTLINK_STORAGE=embedded for your own data`,
    });
  }
  return prepareFolder(config, folder);
};

/** The root key of a storage, null if it holds no data, whether it rests, and whether a move into it is not finished. */
export const stateOf = Effect.fnUntraced(function* (storage: PersistentStorage) {
  if (storage.kind === "redis") {
    return yield* (yield* redis).StorageRedis.inspect(storage);
  }
  const state =
    storage.kind === "embedded"
      ? yield* StorageSql.inspectEmbedded(storage.folder)
      : yield* StoragePostgres.inspectPostgres({ ...storage, connectTimeout });
  const { rootKey = null, rest = null, tables = [] } = state ?? {};
  return { rootKey, rest, isHalfMoved: tables.includes("moving") };
});

export type OpenedStorage = Effect.Success<ReturnType<typeof openStorage>>;

export const servicesOn = (opened: OpenedStorage) => {
  const { config, storage, secrets, location } = opened;
  return Layer.unwrap(
    Effect.map(Effect.tap(cacheOf(config), refuseCache), (cache) =>
      Layer.mergeAll(
        Accounts.layer,
        Members.layer,
        UserExports.layer,
        Webhooks.layer,
        StoredPlans.layer,
      ).pipe(
        Layer.provideMerge(UserData.layer),
        Layer.provideMerge(ApiKeys.layer),
        Layer.provideMerge(deploymentKeysLayer(config, storage, secrets)),
        // Redis carries signals of changes to the running servers. Without Redis, a server notices a change when it
        // next reads the storage.
        Layer.provideMerge(cacheLayer(cache)),
        Layer.provideMerge(storageLayer(opened, { exclusive: false, connectTimeout })),
        Layer.provideMerge(Layer.succeed(StorageLocation, location)),
        Layer.provideMerge(cryptoLayer),
        Layer.provide([
          Layer.succeed(Limits, limitsOf(config)),
          NodeWebhookSender.layer({ networks: config.ACCOUNTLINK_WEBHOOK_NETWORKS }),
        ]),
        // Turns logging off: if Redis is down, the running servers already log it.
        Layer.provide(Logger.layer([])),
      ),
    ),
  );
};

/** Provides the services that commands use, on the storage that `openStorage` opens. */
export const managementLayer = (whenNew: "make" | "refuse") =>
  Layer.unwrap(Effect.map(openStorage(whenNew), (opened) => servicesOn(opened)));
