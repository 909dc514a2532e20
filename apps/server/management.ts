/**
 * What the commands beside `serve` work with. All of it can be used beside a running server.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { ApiKeys, Limits, UserData } from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import { Effect, Layer, Logger } from "effect";
import { type Config, InvalidConfig, readConfig } from "./config.ts";
import { deploymentKeysLayer } from "./deployment_keys.ts";
import { cryptoLayer } from "./internal/crypto.ts";
import { prepareFolder } from "./internal/prepare_folder.ts";
import { CommandFailed } from "./internal/report.ts";
import { storageLayer } from "./internal/storage_layer.ts";
import { Place, placeOf } from "./place.ts";
import { type Cache, cacheOf, isDemo, limitsOf, storageOf } from "./plan.ts";
import { resolveSecrets } from "./secret.ts";

/**
 * The storage that `serve` would use under the same environment, with its secret.
 *
 * @param whenNew whether a storage without data is made ready for it, as `serve` does, or is refused
 */
export const openStorage = Effect.fnUntraced(function* (whenNew: "make" | "refuse") {
  const config = yield* readConfig(process.env);
  const storage = yield* storageOf(config);
  if (storage.kind === "memory") {
    return yield* new InvalidConfig({
      problem:
        'ACCOUNTLINK_STORAGE is "memory", which lives and ends with its server, expected embedded or postgres',
    });
  }
  if (storage.kind === "embedded") {
    if (!StorageSql.hasDatabase(storage.folder)) yield* prepareNewFolder(config, storage.folder, whenNew);
  } else if (whenNew === "refuse") {
    const { path, schema } = yield* StorageSql.inspectPostgres(storage);
    if (schema.version === 0) return yield* nothingInDatabase(path);
  }
  // First of all, since a database is not opened again without the secret that it was made with.
  const secrets = yield* resolveSecrets({ config, storage });
  return { config, storage, secrets, place: placeOf(storage) };
});

const prepareNewFolder = (config: Config, folder: string, whenNew: "make" | "refuse") => {
  if (whenNew === "refuse") return nothingIn(folder);
  return isDemo(config) ? demoIsNotMade(folder) : prepareFolder(config, folder);
};

const nothingIn = (folder: string) =>
  new CommandFailed({
    problem: `Cannot open the database: data folder "${folder}" holds none, expected the folder of a server (ACCOUNTLINK_STORAGE, ACCOUNTLINK_PLATFORM, ACCOUNTLINK_FIXTURE and ACCOUNTLINK_DATA_DIR tell which, as for serve)`,
  });

const nothingInDatabase = (path: string) =>
  new InvalidConfig({
    problem: `ACCOUNTLINK_DATABASE_URL leads to "${path}", which holds nothing of a server, expected the database of one`,
  });

// Whoever forgot a variable would find what they stored in the demo, and not in their server.
const demoIsNotMade = (folder: string) =>
  new CommandFailed({
    problem: `Cannot make data folder "${folder}": it is the demo's, which only serve makes, expected ACCOUNTLINK_STORAGE=embedded for data of your own`,
  });

/** What the running servers share. Without Redis they look at the storage, soon enough. */
const cacheLayer = (cache: Cache) =>
  cache.kind === "memory"
    ? CacheMemory.layer
    : Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("@accountlink/cache-redis")),
          ({ CacheRedis }) => CacheRedis.layer(cache),
        ),
      );

/** A storage that can be worked with. */
export type OpenedStorage = Effect.Success<ReturnType<typeof openStorage>>;

/** The stores, `ApiKeys`, `UserData` and `AddressVault` on the storage. */
export const servicesOn = ({ config, storage, secrets, place }: OpenedStorage) =>
  Layer.unwrap(
    Effect.map(cacheOf(config), (cache) =>
      Layer.merge(ApiKeys.layer, UserData.layer).pipe(
        Layer.provideMerge(deploymentKeysLayer(config, storage, secrets)),
        Layer.provideMerge(storageLayer(storage, { exclusive: false })),
        Layer.provideMerge(Layer.succeed(Place, place)),
        Layer.provideMerge(cryptoLayer),
        Layer.provide(Layer.merge(cacheLayer(cache), Layer.succeed(Limits, limitsOf(config)))),
        // Standard output is for the answer. That Redis is down is for the servers to tell.
        Layer.provide(Logger.layer([])),
      ),
    ),
  );

/**
 * The same on the storage that `serve` would use.
 *
 * @param whenNew whether a storage without data is made ready for it, as `serve` does, or is refused
 */
export const managementLayer = (whenNew: "make" | "refuse") =>
  Layer.unwrap(Effect.map(openStorage(whenNew), servicesOn));
