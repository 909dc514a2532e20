/** Stores links in Postgres, for any number of processes. */

import type { StoreUnavailable } from "@accountlink/core";
import { FallbackCounters } from "@accountlink/core/limits";
import { CacheMemory } from "@accountlink/memory";
import type {
  InvalidRedisUrl,
  RedisDatabaseRefused,
  RedisOptions,
  RedisUnusable,
} from "@accountlink/redis/redis_options";
import type * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect, Layer, Predicate, Redacted } from "effect";
import * as Accept from "./accept.ts";
import * as AccountLink from "./account_link.ts";
import { withOptional } from "./optional_package.ts";
import { InvalidOptions, problemsOf, type Secret, type Settings } from "./options.ts";
import type { Storage } from "./storage.ts";

export interface PostgresOptions extends Omit<StoragePostgres.PostgresOptions, "url"> {
  /**
   * The Redis through which processes share rate limits and changes: a `redis://…` or `rediss://…` URL, or an object
   * with more options. Without it, each process counts limits separately, sees revoked keys within a second and
   * changes of sessions within two seconds, and receives no events of other processes.
   */
  readonly redis?: string | (Omit<RedisOptions, "url"> & { readonly url: string });
}

/** Why the database or Redis cannot be used; `InvalidOptions` if `@effect/sql-pg` or `ioredis` is not installed. */
export type PostgresError =
  | InvalidOptions
  | StoragePostgres.PostgresError
  | InvalidRedisUrl
  | RedisDatabaseRefused
  | RedisUnusable
  | StoreUnavailable;

/**
 * A database of Postgres 15 or later.
 *
 * @param url `postgres://user:password@host:port/database`; `?sslmode=verify-full` uses TLS
 * @example
 * ```ts
 * import { createAccountLink } from "accountlink";
 *
 * const secret = crypto.getRandomValues(new Uint8Array(32));
 * const storage = postgres("postgres://links@127.0.0.1:1/links", { redis: "redis://127.0.0.1:1" });
 * const error = await createAccountLink({ storage, secret, gameUserExists: () => true }).catch(String);
 * String(error).includes('Cannot use database "127.0.0.1:1/links"'); // true
 * ```
 */
export const postgres = (url: string, given: PostgresOptions = {}): Storage<PostgresError> => {
  const shared = typeof given.redis === "string" ? { url: given.redis } : given.redis;
  const problems = postgresProblems({ ...given, redis: shared });
  if (problems.length > 0) return Layer.unwrap(new InvalidOptions({ problems }));
  const { redis: _, ...options } = given;
  const stores = Layer.unwrap(
    Effect.map(
      withOptional("@effect/sql-pg", () => import("@accountlink/sql/postgres")),
      ({ layerPostgres: layer }) => layer({ ...options, url: Redacted.make(url) }),
    ),
  );
  if (shared === undefined) return Layer.provideMerge(CacheMemory.layerSaved, stores);
  const cache = Layer.unwrap(
    Effect.map(
      withOptional("ioredis", () => import("@accountlink/redis")),
      ({ CacheRedis }) => CacheRedis.layer({ ...shared, url: Redacted.make(shared.url) }),
    ),
  );
  return FallbackCounters.layer(CacheMemory.layer).pipe(
    Layer.provideMerge(Layer.provideMerge(cache, stores)),
  );
};

const postgresProblems = problemsOf(
  "postgres",
  Accept.fields({
    maxConnections: Accept.maybe(Accept.whole(2, Number.MAX_SAFE_INTEGER)),
    connectTimeout: Accept.maybe(Accept.duration),
    statementTimeout: Accept.maybe(Accept.duration),
    startTimeout: Accept.maybe(Accept.duration),
    redis: Accept.maybe(
      Accept.fields({
        url: Accept.text,
        prefix: Accept.maybe(Accept.text),
        commandTimeout: Accept.maybe(Accept.duration),
        tls: Accept.maybe(Accept.that(Predicate.isObject, "an object")),
      }),
    ),
  }),
);

/**
 * Provides every service, with links in Postgres.
 *
 * @example
 * ```ts
 * import { Links } from "accountlink";
 * import { Effect } from "effect";
 *
 * const secret = crypto.getRandomValues(new Uint8Array(32));
 * const service = layerPostgres("postgres://127.0.0.1:1/links", { secret, gameUserExists: () => true });
 * const program = Effect.flatMap(Links, (links) => links.get("100001"));
 * (await Effect.runPromise(Effect.flip(Effect.provide(program, service))))._tag; // "DatabaseUnusable"
 * ```
 */
export const layerPostgres = (
  url: string,
  { redis, ...settings }: Settings & Pick<PostgresOptions, "redis"> & { readonly secret: Secret },
) => AccountLink.layer({ ...settings, storage: postgres(url, redis === undefined ? {} : { redis }) });
