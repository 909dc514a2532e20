import {
  makePostgresDatabase,
  redisUrl,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, describe } from "vitest";
import { postgres } from "./postgres.ts";
import { promiseApiSuite } from "./test_promise_api.ts";

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());

describe.skipIf(missing !== null)(`Two processes on Postgres and Redis ${missing ?? ""}`, async () => {
  const scope = Scope.makeUnsafe();
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));
  const servers = Effect.all({ database: makePostgresDatabase(), redis: redisUrl });
  const { database, redis } = await Effect.runPromise(Scope.provide(servers, scope));
  promiseApiSuite(() => postgres(database.url, { redis }), { shares: true });
});
