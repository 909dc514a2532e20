import { spawnSync } from "node:child_process";
import { join } from "node:path";
import {
  compileCache,
  isProof,
  makePostgresDatabase,
  redisUrl,
  runUntil,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect } from "effect";
import { afterAll, describe, expect, it } from "vitest";
import { postgres } from "./postgres.ts";
import { promiseApiSuite } from "./test_promise_api.ts";

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());

describe.skipIf(missing !== null)(`Two processes on Postgres and Redis ${missing ?? ""}`, async () => {
  const servers = Effect.all({ database: makePostgresDatabase(), redis: redisUrl });
  const { database, redis } = await runUntil(afterAll)(servers);
  const prefix = `embedded-${crypto.randomUUID()}:`;
  // Generous timeouts, because the machine of a CI run may be busy.
  const generous = { connectTimeout: "20 seconds", statementTimeout: "20 seconds" } as const;
  const shared = { url: redis, prefix, commandTimeout: "20 seconds" } as const;
  promiseApiSuite(() => postgres(database.url, { redis: shared, ...generous }), { shares: true });

  // A program on SQLite exits by the same code.
  it.runIf(isProof)("a program exits after it closes the service on Postgres", () => {
    const program = join(import.meta.dirname, "test_program.ts");
    const { status, stdout } = spawnSync(process.execPath, [program, database.url, redis], {
      env: { ...process.env, ...compileCache },
      timeout: 40_000,
    });
    expect([status, String(stdout).trim().split("\n").at(-1)]).toEqual([0, "CLOSED"]);
  });
});
