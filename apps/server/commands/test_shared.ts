/** For tests: a Postgres and a Redis that several servers share. */
import {
  makePostgresDatabase,
  type PostgresDatabase,
  type RedisServer,
  startRedis,
  whyNoPostgresDatabase,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { onTestFinished } from "vitest";

/** Why they cannot be had here, or null when they can: for the title of a skip. */
export const whyNothingShared = async (): Promise<string | null> =>
  (await whyNoPostgresDatabase()) ?? (await whyNoRedis());

/** What servers share, and the variables that lead to it. */
export interface Shared {
  readonly database: PostgresDatabase;
  readonly redis: RedisServer;
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes what is gone after the test. */
export const makeShared = async (): Promise<Shared> => {
  const scope = Scope.makeUnsafe();
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)));
  const all = Effect.all([makePostgresDatabase(), startRedis()]);
  const [database, redis] = await Effect.runPromise(Scope.provide(all, scope));
  const environment = {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: database.url,
    ACCOUNTLINK_SECRET: Buffer.alloc(32, "s").toString("base64"),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis.url,
  };
  return { database, redis, environment };
};
