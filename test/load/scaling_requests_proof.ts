/**
 * What docs/scaling.md reckons with for a request: what a node, Postgres and Redis spend on it, with one key and with
 * many that each ask from an address of their own, when the node is as busy as it can be and when it is not. It judges
 * orders of magnitude only, and prints the rest.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secrets, unwrapRootKey } from "@accountlink/core/secrets";
import type { PostgresDatabase } from "@accountlink/test-servers";
import { Effect, Layer, Option, Redacted } from "effect";
import { Aead, Kdf, SecureRandom } from "effect/crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DrivePlan } from "../../bench/drive.ts";
import { fixture, keyCount, keyOf, unreachedAddressLimits, unreachedKeyLimits } from "../../bench/fixture.ts";
import { type RunningServer, startGenerator, startServer } from "../../bench/server_process.ts";
import { missing, useServers } from "./scaling_servers.ts";

const { run, redis, makeDatabase, spentOn } = useServers();

const secret = randomBytes(32);
const main = join(import.meta.dirname, "../../apps/server/main.ts");

let folder = "";
let database: PostgresDatabase;
let environment: Readonly<Record<string, string>>;
const generator = startGenerator();
beforeAll(async () => {
  if (missing !== null) return;
  folder = await mkdtemp(join(tmpdir(), "accountlink-scaling-"));
  database = await makeDatabase();
  environment = {
    ...unreachedAddressLimits,
    ACCOUNTLINK_PORT: "0",
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: database.url,
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis().url,
    ACCOUNTLINK_REDIS_PREFIX: "scaling:",
    ACCOUNTLINK_PLATFORM: "dev",
    ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.1/32",
    ACCOUNTLINK_SECRET: secret.toString("base64"),
  };
  const fixtureFile = join(folder, "fixture.json");
  await writeFile(fixtureFile, JSON.stringify(fixture()));
  const filling = await startServer([main, "serve"], { ...environment, ACCOUNTLINK_FIXTURE: fixtureFile });
  await filling.stop();
  await addKeys();
  await run(database.query("VACUUM ANALYZE"));
}, 120_000);
afterAll(async () => {
  generator.stop();
  if (folder !== "") await rm(folder, { recursive: true });
});

/** Gives the account of the fixture many more keys, all at once. */
const addKeys = async () => {
  const [row] = await run(database.query("SELECT wrapped FROM root_key"));
  const rootKey = await run(
    unwrapRootKey(String(row?.["wrapped"]), Redacted.make(new Uint8Array(secret))).pipe(
      Effect.map(Option.getOrThrow),
      Effect.provide([Aead.layerWebCrypto, Kdf.layerWebCrypto]),
      Effect.provide(SecureRandom.layerWebCrypto),
    ),
  );
  const secrets = await run(Layer.build(Secrets.layerWebCrypto(rootKey)));
  const { keyHash } = await Effect.runPromise(Effect.provideContext(Secrets, secrets));
  const keys = Array.from({ length: keyCount }, (_, i) => keyOf(i));
  const hashed = await Effect.runPromise(
    Effect.forEach(keys, ({ id, token }) => Effect.map(keyHash(token), (hash) => [id, hash])),
  );
  const elements = "json_array_elements($1::json) AS element (value)";
  const rows = [JSON.stringify(hashed)];
  await run(
    database.query(
      `INSERT INTO keys (id, pid, name, tier, kind, status, limits, allow_ips, deny_ips, redirect_origins, created_at)
        SELECT value ->> 0, pid, '', 'premium', 'normal', 'active', $2, '[]', '[]', '[]', 1
        FROM ${elements}, scopes WHERE account = 'bench' AND guild_id IS NULL`,
      [...rows, JSON.stringify(unreachedKeyLimits)],
    ),
  );
  await run(
    database.query(
      `INSERT INTO key_secrets (hash, key_id) SELECT value ->> 1, value ->> 0 FROM ${elements}`,
      rows,
    ),
  );
};

/** What the database has done so far; a connection tells it within a second. */
const doneByDatabase = async () => {
  const [row] = await run(
    database.query(`
      SELECT xact_commit AS statements, (SELECT n_tup_ins + n_tup_upd FROM pg_stat_user_tables WHERE relname = 'day_counts') AS windows
      FROM pg_stat_database WHERE datname = current_database()`),
  );
  return { statements: Number(row?.["statements"]), windows: Number(row?.["windows"]) };
};

/** Drives the node, and gives what each request came to. */
const measure = async (server: RunningServer, work: DrivePlan["work"], rate: number | null) => {
  const before = { ...(await doneByDatabase()), seconds: server.processorTime() ?? Number.NaN };
  let requests = 0;
  let failed = 0;
  const spent = await spentOn(1, async () => {
    const until = { seconds: 10 };
    const driven = await generator.drive({ url: server.url, work, connections: 32, rate, until, seed: 2 });
    ({ requests, failed } = driven);
    console.log({
      work,
      rate,
      requestsPerSecond: requests / driven.seconds,
      p50: driven.p50,
      p99: driven.p99,
      failed,
    });
  });
  const after = { ...(await doneByDatabase()), seconds: server.processorTime() ?? Number.NaN };
  const each = {
    microsOfNode: ((after.seconds - before.seconds) * 1e6) / requests,
    microsOfPostgres: spent.postgres / requests,
    microsOfRedis: spent.redis / requests,
    scripts: spent.scripts / requests,
    statements: (after.statements - before.statements) / requests,
    windowsSaved: (after.windows - before.windows) / requests,
    bytesOfWal: spent.wal / requests,
  };
  console.log(each);
  // A machine that is full of other work does not keep up with a pace, and those figures are then nothing.
  if (rate === null) expect(failed).toBe(0);
  return each;
};

describe.skipIf(missing !== null)(`a request ${missing ?? "to a node"}`, () => {
  test.each(["hit", "spread"] as const)("%s", async (work) => {
    const server = await startServer([main, "serve"], environment);
    try {
      // Every key comes once or twice before. Then the database is as it would be some time later.
      const until = { requests: 30_000 };
      await generator.drive({ url: server.url, work, connections: 32, rate: null, until, seed: 1 });
      await run(database.query("VACUUM ANALYZE"));
      const busy = await measure(server, work, null);
      // One for the limits, and those of the cache.
      expect(busy.scripts).toBeLessThan(3.5);
      expect(busy.statements).toBeLessThan(1);
      await measure(server, work, 2_000);
      await measure(server, work, 1_000);
      const [row] = await run(
        database.query(
          "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'accountlink'",
        ),
      );
      console.log({
        residentMegabytes: Math.round((server.memory() ?? Number.NaN) / 2 ** 20),
        connections: row?.["count"],
      });
    } finally {
      await server.stop();
    }
  });
});
