/**
 * What docs/scaling.md reckons with: the size of a link, of a count and of an entry of the audit log, and what single
 * operations cost. It judges orders of magnitude only, and prints the rest.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ChatId, Counters, GameId, KeyId, LinkStore, Pid } from "@accountlink/core";
import { CountLedger } from "@accountlink/core/limits";
import { CacheRedis } from "@accountlink/redis";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect, Layer, Redacted } from "effect";
import { describe, expect, test } from "vitest";
import { shuffled } from "../../bench/fixture.ts";
import { missing, useServers } from "./scaling_servers.ts";

const { run, redis, makeDatabase, spentOn } = useServers();

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
  const { url, query } = await makeDatabase();
  const options = { url: Redacted.make(url), statementTimeout: "20 seconds" } as const;
  await run(StoragePostgres.migratePostgres(options));
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

describe.skipIf(missing !== null)(`what a service grows by ${missing ?? ""}`, () => {
  test("a link, an entry of the log, and lookups among a million links", async () => {
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
      const stores = await run(Layer.build(Layer.fresh(StoragePostgres.layerPostgres(options))));
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
    const memory = async () =>
      Number(/used_memory:(\d+)/.exec(await run(redis().ask("INFO", "memory")))?.[1]);
    const layer = CacheRedis.layer({ url: Redacted.make(redis().url) });
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
      const each = await spentOn(subjects, () => Effect.runPromise(admitEach(windows)));
      console.log({ windows, microsOfRedis: each.redis });
    }
    expect(bytesPerWindow).toBeGreaterThan(50);
    expect(bytesPerWindow).toBeLessThan(600);
  });

  test("a window in the ledger", async () => {
    const { url, query } = await makeDatabase();
    const options = { url: Redacted.make(url), statementTimeout: "20 seconds" } as const;
    await run(StoragePostgres.migratePostgres(options));
    const stores = await run(Layer.build(Layer.fresh(StoragePostgres.layerPostgres(options))));
    const ledger = await Effect.runPromise(Effect.provideContext(CountLedger, stores));
    const endsAt = Date.now() + 86_400_000;
    // As they come: of other keys in each second.
    const windows = shuffled(
      Array.from({ length: 50_000 }, (_, i) => ({
        key: i % 2 === 0 ? `day:${`${i}`.padStart(12, "0")}` : `ip_day:${`${i}`.padStart(22, "0")}`,
        endsAt,
      })),
      1,
    );
    const parts = Array.from({ length: windows.length / 1_000 }, (_, i) =>
      windows.slice(i * 1_000, (i + 1) * 1_000),
    );
    const spentBy = async (use: (part: typeof windows) => Effect.Effect<unknown, unknown>) => {
      const { postgres, wal } = await spentOn(windows.length, () =>
        Effect.runPromise(Effect.forEach(parts, use, { discard: true })),
      );
      return { microsOfPostgres: postgres, bytesOfWal: wal };
    };
    let counted = 0;
    const save = () => {
      counted++;
      return spentBy((part) =>
        ledger.saveCounts(
          part.map((window) => ({ ...window, counted })),
          1,
        ),
      );
    };
    const read = () => spentBy((part) => ledger.loadCounts(part));
    const begun = await save();
    await run(query("VACUUM ANALYZE day_counts"));
    const [table] = await run(query("SELECT pg_total_relation_size('day_counts') AS bytes"));
    const bytesPerWindow = Number(table?.["bytes"]) / windows.length;
    await run(query("CHECKPOINT"));
    console.log({ bytesPerWindow, begun, raised: await save(), read: await read() });
    expect(bytesPerWindow).toBeLessThan(1_000);
  });
});
