/** The storage and the cache that the configuration chooses. */
import type {
  Cache as CachePort,
  Counters,
  Signals,
  StoragePorts,
  StorageRefused,
  StoreUnavailable,
} from "@accountlink/core";
import { type DayCounts, FallbackCounters } from "@accountlink/core/limits";
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import type { CacheRedis, StorageRedis } from "@accountlink/redis";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { type Duration, Effect, Layer, Logger } from "effect";
import { InvalidConfig } from "../config/config.ts";
import type { Cache, OfKind, PersistentStorage, Storage } from "../config/resolved_config.ts";
import { checked, type OpenedWith } from "../secrets/deployment_secret.ts";

interface Opening {
  /** Whether to refuse a second server on an embedded storage. */
  readonly exclusive: boolean;
  /** How long to wait for a database server that is not up yet. No wait by default. */
  readonly startTimeout?: Duration.Input;
  /** How long to wait for a connection to a database server; 1 second by default. */
  readonly connectTimeout?: Duration.Input;
}

type StorageError =
  | StorageSql.EmbeddedError
  | StoragePostgres.PostgresError
  | StorageRedis.StorageRedisError
  | InvalidConfig;

/** Refuses a storage that must not be used, or that the secrets do not fit, before anything is written to it. */
export const storageLayer = (
  { storage, ...opened }: Omit<OpenedWith, "storage"> & { readonly storage: Storage },
  opening: Opening,
): Layer.Layer<StoragePorts, Exclude<StorageError, StorageRefused>> =>
  storage.kind === "memory"
    ? StorageMemory.layer
    : Layer.effectContext(checked({ ...opened, storage })(Layer.build(persistentLayer(storage, opening))));

const persistentLayer = (
  storage: PersistentStorage,
  { exclusive, ...opening }: Opening,
): Layer.Layer<StoragePorts, StorageError> => {
  switch (storage.kind) {
    case "embedded":
      return StorageSql.layerEmbedded({ ...storage, exclusive });
    case "postgres":
      return StoragePostgres.layerPostgres({ ...storage, ...opening });
    case "redis":
      return redisStorageLayer(storage, { ...opening, serves: exclusive });
  }
};

/** The modules of Redis, an optional package. Only processes that use Redis load them. */
export const redis = Effect.promise(() => import("@accountlink/redis"));

const redisStorageLayer = (
  storage: OfKind<Storage, "redis">,
  { startTimeout = 0, serves }: Omit<Opening, "exclusive"> & { readonly serves: boolean },
) =>
  Layer.unwrap(
    Effect.map(redis, ({ StorageRedis: { layer } }) => layer({ ...storage, startTimeout, serves })),
  ).pipe(Layer.catchTag("RedisDatabaseRefused", refusing("ACCOUNTLINK_DATABASE_URL")));

export const cacheLayer = (cache: Cache) =>
  cache.kind === "memory"
    ? CacheMemory.layer
    : Layer.unwrap(Effect.map(redis, ({ CacheRedis: { layer } }) => layer(cache))).pipe(
        Layer.catchTag("RedisDatabaseRefused", refusing("ACCOUNTLINK_REDIS_URL")),
      );

/** Fails if the cache refuses a start, such as a Redis without the database of the URL: before anything is written. */
export const refuseCache = (cache: Cache) =>
  Effect.scoped(Layer.build(cacheLayer(cache))).pipe(Effect.provide(Logger.layer([])));

type RedisVariable = "ACCOUNTLINK_REDIS_URL" | "ACCOUNTLINK_DATABASE_URL";

const refusing =
  (variable: RedisVariable) =>
  ({ database }: { readonly database: number }) =>
    Layer.effectContext(new InvalidConfig({ problem: refusedDatabase(database, variable) }));

export const refusedDatabase = (database: number, variable: RedisVariable): string =>
  `${variable} names database ${database}, expected a database that the server has and lets its user select`;

/** Provides the cache of a server: Redis with counters for its outages, or a memory that saves the counts of the day. */
export const serverCacheLayer = (
  cache: Cache,
): Layer.Layer<
  CachePort | Counters | Signals,
  CacheRedis.InvalidRedisUrl | CacheRedis.RedisUnusable | InvalidConfig | StoreUnavailable,
  DayCounts
> =>
  cache.kind === "memory"
    ? CacheMemory.layerSaved
    : Layer.provideMerge(FallbackCounters.layer(CacheMemory.layer), cacheLayer(cache));
