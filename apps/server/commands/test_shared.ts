/** For tests: a Postgres and a Redis that several servers share. */
import {
  makePostgresDatabase,
  runUntil,
  startRedis,
  whyNoPostgresDatabase,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect } from "effect";
import { onTestFinished } from "vitest";
import { storageAt } from "./test_command_line.ts";

/** Why Postgres or Redis is not available, as text for the title of a skipped test; null if both are available. */
export const whyNothingShared = async (): Promise<string | null> =>
  (await whyNoPostgresDatabase()) ?? (await whyNoRedis());

/** Makes a Postgres database and starts a Redis server. Both exist until the test ends. */
export const makeShared = async () => {
  const [database, redis] = await runUntil(onTestFinished)(
    Effect.all([makePostgresDatabase(), startRedis()]),
  );
  const environment = {
    ...storageAt(database.url),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis.url,
  };
  return { database, redis, environment };
};
