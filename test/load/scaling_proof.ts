/**
 * What docs/scaling.md reckons with: the size of a link, of a count and of an entry of the audit log, and what one node
 * asks of Postgres and Redis for a request. It judges orders of magnitude only, and prints the rest.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CacheRedis } from "@accountlink/cache-redis";
import { ChatId, Counters, GameId, KeyId, LinkStore, Pid } from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import {
  makePostgresDatabase,
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
  whyNoPostgres,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Layer, Redacted, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { driveOnce, startServer } from "./server_process.ts";
import { fixture, unreachedAddressLimits } from "./workload.ts";

const missing = (await whyNoPostgres()) ?? (await whyNoRedis());

const scope = Scope.makeUnsafe();
const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.provide(effect, scope));

let postgres: PostgresServer;
let redis: RedisServer;
let folder = "";
beforeAll(async () => {
  if (missing !== null) return;
  folder = await mkdtemp(join(tmpdir(), "accountlink-scaling-"));
  postgres = await run(startPostgres({ config: ["shared_buffers = 1GB", "max_wal_size = 4GB"] }));
  redis = await run(startRedis());
});
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void));
  if (folder !== "") await rm(folder, { recursive: true });
});

const links = 1_000_000;
const scopes = 1_000;
const pidOf = (number: number) => Pid.make(`pid_${`${number}`.padStart(16, "0")}`);
const chatIdOf = (number: number): ChatId =>
  ChatId.make(String(100_000_000_000_000_000n + BigInt(number) * 7_919n));

/** In no order, as chat users come: an index that is filled so has room in its pages. */
const fill = `
  SET session_replication_role = replica;
  INSERT INTO accounts (name, tier) VALUES ('acme', 'free');
  INSERT INTO scopes (pid, account, guild_id)
    SELECT 'pid_' || lpad(i::text, 16, '0'), 'acme', i::text FROM generate_series(0, ${scopes - 1}) AS i;
  INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT 'pid_' || lpad((i % ${scopes})::text, 16, '0'), (100000000000000000 + i * 7919::bigint)::text,
      (1000000000 + i)::text, 1, 1760000000000 + i, 1760000000000 + i
    FROM (SELECT i FROM generate_series(0, ${links - 1}) AS i ORDER BY hashint4(i)) AS anyhow`;

const million = async () => {
  const { url, query } = await run(makePostgresDatabase(postgres));
  const options = { url: Redacted.make(url), statementTimeout: "20 seconds" } as const;
  await run(StorageSql.migratePostgres(options));
  const ask = (sql: string) => run(query(sql));
  await ask(fill);
  await ask("VACUUM ANALYZE");
  return { ask, options };
};

const perSecond = async (count: number, work: Effect.Effect<unknown, unknown>): Promise<number> => {
  const started = performance.now();
  await Effect.runPromise(work);
  return Math.round(count / ((performance.now() - started) / 1_000));
};

/** How many scripts a Redis has run, and its processor time so far, in microseconds. */
const spentBy = async ({ ask }: RedisServer) => {
  const stats = await run(ask("INFO", "commandstats"));
  const cpu = await run(ask("INFO", "cpu"));
  const [, scripts] = /cmdstat_evalsha:calls=(\d+)/.exec(stats) ?? [];
  const [, system] = /used_cpu_sys:([\d.]+)/.exec(cpu) ?? [];
  const [, user] = /used_cpu_user:([\d.]+)/.exec(cpu) ?? [];
  return { scripts: Number(scripts), micros: (Number(system) + Number(user)) * 1e6 };
};

describe.skipIf(missing !== null)(`what a service grows by ${missing ?? ""}`, () => {
  test("a link, an entry of the log, and look-ups among a million links", async () => {
    const { ask, options } = await million();
    const sizeOf = async (relation: string, kind = "total_relation") => {
      const [row] = await ask(`SELECT pg_${kind}_size('${relation}') AS bytes`);
      return Number(row?.["bytes"]);
    };
    const perLink = async () => ({
      table: (await sizeOf("links", "table")) / links,
      byChatUser: (await sizeOf("links_pkey", "relation")) / links,
      byGameUser: (await sizeOf("links_by_game", "relation")) / links,
      all: (await sizeOf("links")) / links,
    });
    const asFilled = await perLink();
    await ask("REINDEX TABLE links");
    const rebuilt = await perLink();
    console.log({ bytesPerLink: { asFilled, rebuilt } });
    expect(asFilled.all).toBeLessThan(500);

    const lookups = Array.from({ length: 100_000 }, (_, i) => (i * 7_907) % links);
    const measureLookups = async (of: string) => {
      const stores = await run(Layer.build(Layer.fresh(StorageSql.layerPostgres(options))));
      const store = await Effect.runPromise(Effect.provideContext(LinkStore, stores));
      const read = (concurrency: number, some: ReadonlyArray<number>) =>
        Effect.forEach(some, (i) => store.findByChatId(pidOf(i % scopes), chatIdOf(i)), {
          concurrency,
          discard: true,
        });
      await Effect.runPromise(read(64, lookups.slice(0, 20_000)));
      for (const concurrency of [1, 32, 256]) {
        const some = concurrency === 1 ? lookups.slice(0, 5_000) : lookups;
        const lookupsPerSecond = await perSecond(some.length, read(concurrency, some));
        console.log({ of, concurrency, lookupsPerSecond });
      }
      return store;
    };
    await measureLookups("one table");
    const started = performance.now();
    await ask(await readFile(join(import.meta.dirname, "../../deploy/partition_links.sql"), "utf8"));
    console.log({ secondsToSplit: (performance.now() - started) / 1_000 });
    const store = await measureLookups("16 parts");

    const origin = { actor: { type: "key", id: KeyId.make("A".repeat(12)) }, at: 1_760_000_000_000 } as const;
    const writes = lookups.slice(0, 20_000);
    const entry = await sizeOf("audit_log");
    const written = Effect.forEach(
      writes,
      (i) =>
        store.setGame({
          ...origin,
          requestId: `req_${"0".repeat(26)}`,
          pid: pidOf(i % scopes),
          chatId: chatIdOf(i),
          gameId: GameId.make("42"),
        }),
      { concurrency: 32, discard: true },
    );
    const writesPerSecond = await perSecond(writes.length, written);
    const bytesPerEntry = ((await sizeOf("audit_log")) - entry) / writes.length;
    console.log({ writesPerSecond, bytesPerEntry });
    expect(bytesPerEntry).toBeLessThan(1_000);
  });

  test("a count in Redis", async () => {
    const memory = async () => Number(/used_memory:(\d+)/.exec(await run(redis.ask("INFO", "memory")))?.[1]);
    const layer = CacheRedis.layer({ url: Redacted.make(redis.url) });
    const counters = await run(Layer.build(layer));
    const store = await Effect.runPromise(Effect.provideContext(Counters, counters));
    const subjects = 50_000;
    const rulesOf = (subject: number, windows: number) =>
      Array.from({ length: windows }, (_, i) => ({
        key: `day${i}:${`${subject}`.padStart(12, "0")}`,
        limit: 1e9,
        durationMs: 86_400_000,
      }));
    const admitEach = (windows: number) =>
      Effect.forEach(
        Array.from({ length: subjects }, (_, i) => i),
        (subject) => store.admit(rulesOf(subject, windows), Date.now()),
        { concurrency: 256, discard: true },
      );
    await Effect.runPromise(store.admit(rulesOf(subjects, 1), Date.now()));
    const empty = await memory();
    const scriptsPerSecond = await perSecond(subjects, admitEach(1));
    const bytesPerWindow = ((await memory()) - empty) / subjects;
    console.log({ bytesPerWindow, scriptsPerSecond });
    for (const windows of [1, 2, 4]) {
      const before = await spentBy(redis);
      await Effect.runPromise(admitEach(windows));
      const after = await spentBy(redis);
      const microsOfRedis = (after.micros - before.micros) / (after.scripts - before.scripts);
      console.log({ windows, microsOfRedis });
    }
    expect(bytesPerWindow).toBeGreaterThan(50);
    expect(bytesPerWindow).toBeLessThan(600);
  });

  test("a request to a node", async () => {
    const { url, query } = await run(makePostgresDatabase(postgres));
    const fixtureFile = join(folder, "fixture.json");
    await writeFile(fixtureFile, JSON.stringify(fixture()));
    const main = join(import.meta.dirname, "../../apps/server/main.ts");
    const environment = {
      ...unreachedAddressLimits,
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: url,
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: redis.url,
      ACCOUNTLINK_REDIS_PREFIX: "scaling:",
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    };
    const filling = await startServer([main, "serve"], { ...environment, ACCOUNTLINK_FIXTURE: fixtureFile });
    await filling.stop();
    const server = await startServer([main, "serve"], environment);
    try {
      await driveOnce(server.url, 1, "--amount=40000");
      const usedSoFar = async () => {
        const [row] = await run(
          query("SELECT xact_commit AS statements FROM pg_stat_database WHERE datname = current_database()"),
        );
        const { scripts, micros } = await spentBy(redis);
        return {
          statements: Number(row?.["statements"]),
          scripts,
          redisMicros: micros,
          seconds: server.processorTime() ?? Number.NaN,
        };
      };
      const before = await usedSoFar();
      const { requests, seconds, p50, p99, failed } = await driveOnce(server.url, 2, "--duration=10");
      const after = await usedSoFar();
      const each = (name: keyof typeof before) => (after[name] - before[name]) / requests;
      const connections = await run(
        query(
          "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'accountlink'",
        ),
      );
      console.log({
        requestsPerSecond: Math.round(requests / seconds),
        p50,
        p99,
        microsOfProcessor: each("seconds") * 1e6,
        statementsPerRequest: each("statements"),
        scriptsPerRequest: each("scripts"),
        microsOfRedis: each("redisMicros"),
        residentMegabytes: Math.round((server.memory() ?? Number.NaN) / 2 ** 20),
        connections: connections[0]?.["count"],
      });
      expect(failed).toBe(0);
      // One for the limits, and those of the cache.
      expect(each("scripts")).toBeLessThan(3.5);
      expect(each("statements")).toBeLessThan(1);
    } finally {
      await server.stop();
    }
  });
});
