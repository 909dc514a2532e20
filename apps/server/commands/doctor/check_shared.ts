/** Checks of what several servers share: Postgres and Redis. */
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect, Result } from "effect";
import type { Config } from "../../config/config.ts";
import { type Cache, cacheOf, type Storage } from "../../config/resolved_config.ts";
import { resolveSecrets } from "../../secrets/deployment_secret.ts";
import { connectTimeout } from "../management_layer.ts";
import { checkEvents } from "./check_events.ts";
import { checkRootKey } from "./check_root_key.ts";
import { checkWebhooks } from "./check_webhooks.ts";
import { type Finding, fail, judgeSchema, ok, warn } from "./finding.ts";

type Postgres = Extract<Storage, { readonly kind: "postgres" }>;
type Redis = Extract<Cache, { readonly kind: "redis" }>;

const oldestPostgres = 15;
const oldestRedis = 6;

export const checkPostgres = Effect.fnUntraced(function* (config: Config, storage: Postgres) {
  const inspected = yield* Effect.result(StoragePostgres.inspectPostgres({ ...storage, connectTimeout }));
  const state = Result.getOrElse(inspected, () => null);
  const secret = yield* resolveSecrets({ config, storage }).pipe(
    Effect.flatMap((secrets) => checkRootKey(config, storage, secrets, state)),
    Effect.map((rootKey) => [ok("secret", "ACCOUNTLINK_SECRET is set"), ...rootKey]),
    Effect.catchTag("InvalidConfig", ({ message }) =>
      Effect.succeed([fail("secret", message, "Set it to what every other server of the database has")]),
    ),
  );
  const database = Result.match(inspected, {
    onSuccess: judgePostgres,
    onFailure: ({ message }) =>
      fail("database", message, "Correct ACCOUNTLINK_DATABASE_URL, or start the database"),
  });
  const feeds = [...(yield* checkEvents(config, state)), ...(yield* checkWebhooks(state))];
  return { findings: [...secret, database, ...feeds], server: undefined, rootKey: state?.rootKey ?? null };
});

const judgePostgres = ({ path, server, schema }: StoragePostgres.PostgresState): Finding => {
  const it = `"${path}" on Postgres ${server}`;
  if (Number.parseInt(server, 10) < oldestPostgres) {
    return fail("database", `${it}, expected ${oldestPostgres} or later`, "Upgrade Postgres");
  }
  return schema.version === 0
    ? ok("database", `${it} is empty, and its schema will be made`)
    : judgeSchema(it, schema, `${it} answers`);
};

export const checkCache = (config: Config): Effect.Effect<Finding> =>
  cacheOf(config).pipe(
    Effect.flatMap((cache) =>
      cache.kind === "redis" ? checkRedis(cache) : Effect.succeed(judgeMemory(config)),
    ),
    Effect.catch(({ problem }) => Effect.succeed(fail("cache", problem, "Set what is missing"))),
  );

const judgeMemory = ({ ACCOUNTLINK_STORAGE: storage }: Config): Finding =>
  storage === "postgres"
    ? warn(
        "cache",
        "memory: each server of the database counts limits for itself alone",
        "Set ACCOUNTLINK_CACHE=redis where more than one server runs",
      )
    : ok("cache", "memory, which begins empty");

const checkRedis = Effect.fnUntraced(function* (cache: Redis) {
  const { CacheRedis } = yield* Effect.promise(() => import("@accountlink/redis"));
  return yield* CacheRedis.inspect(cache).pipe(
    Effect.map(({ path, version, eviction }) => {
      const it = `Redis ${version} at "${path}"`;
      if (Number.parseInt(version, 10) < oldestRedis) {
        return fail("cache", `${it}, expected ${oldestRedis} or later`, "Upgrade Redis");
      }
      return eviction === "noeviction"
        ? ok("cache", `${it} answers`)
        : warn(
            "cache",
            `${it} may forget what limits count: its maxmemory-policy is ${eviction ?? "not told"}`,
            "Set it to noeviction",
          );
    }),
    Effect.catch(({ message }) =>
      Effect.succeed(
        warn(
          "cache",
          message,
          "Correct ACCOUNTLINK_REDIS_URL, or start Redis. Until then each server counts limits for itself",
        ),
      ),
    ),
  );
});
