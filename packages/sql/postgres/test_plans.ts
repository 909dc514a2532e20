/** For tests: counts the rows that Postgres reads for each operation of the stores. */
import {
  AuditLog,
  ChatId,
  type Conflict,
  GameId,
  KeyId,
  LinkStore,
  Pid,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import type { AuditFilter } from "@accountlink/core/audit";
import { KeyStore } from "@accountlink/core/keys";
import { DayCounts } from "@accountlink/core/limits";
import type { ImportBatch } from "@accountlink/core/links";
import { makePostgresDatabase } from "@accountlink/test-servers";
import { Context, Effect, Layer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { migrate } from "../migrations.ts";
import { layer as stores } from "../stores.ts";
import { altOperations, fillAlts } from "./test_alt_plans.ts";
import { eventOperations, fillEvents } from "./test_event_plans.ts";
import { Database, layerClient } from "./test_postgres.ts";
import { fillRoles, roleOperations } from "./test_role_plans.ts";
import { fillSignIns, signInOperations } from "./test_sign_in_plans.ts";
import { fillUsage, usageOperations } from "./test_usage_plans.ts";
import { fillVerifications, verificationOperations } from "./test_verification_plans.ts";

const number = 100;
export const pid = Pid.make(`pid_${`${number}`.padStart(16, "0")}`);
const account = `account ${number}`;
const chatIdOf = (index: number) => ChatId.make(`${1_000_000 + number * 1_000 + index}`);
const gameIdOf = (index: number) => GameId.make(`${number * 300 + index}`);
const chatIds = (length: number) => Array.from({ length }, (_, i) => chatIdOf(i));
const gameIds = (length: number) => Array.from({ length }, (_, i) => gameIdOf(i));
const atOnce = { concurrency: "unbounded" } as const;
const keyId = KeyId.make(`${number}5`.padStart(12, "0"));

const windowsEnd = 2_000_000;
const windows = Array.from({ length: 20 }, (_, i) => ({ key: `day:${i * 50}`, endsAt: windowsEnd }));

/**
 * Adds accounts, each with one scope of 1,000 links, ten keys and a hundred audit entries. Skips foreign key checks,
 * which would take most of the time.
 */
const fill = (accounts: number) => `
  SET session_replication_role = replica;
  -- Postgres scans a table of a few pages whatever its indexes are.
  INSERT INTO accounts (name, chat_id, tier) SELECT 'account ' || i, (1000000 + i)::text, 'free'
    FROM generate_series(1, ${Math.max(accounts, 1_000)}) AS i;
  INSERT INTO suspended_owners (hash) SELECT md5(i::text) FROM generate_series(1, 10000) AS i;
  INSERT INTO scopes (pid, account) SELECT 'pid_' || lpad(substr(chat_id, 2), 16, '0'), name FROM accounts;
  INSERT INTO keys (id, pid, name, tier, kind, status, limits, allow_ips, deny_ips, redirect_origins, created_at)
    SELECT lpad(i::text, 12, '0'), 'pid_' || lpad((i / 10)::text, 16, '0'),
      '', 'free', 'normal', 'active', '{}', '[]', '[]', '[]', i
    FROM generate_series(1, ${accounts * 10}) AS i;
  INSERT INTO key_secrets (hash, key_id) SELECT 'hash ' || id, id FROM keys;
  INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (1000000 + i)::text, (i * 3 / 10)::text, 1, i, i
    FROM generate_series(1, ${accounts * 1_000}) AS i;
  INSERT INTO audit_log (at, account, pid, actor_type, actor_id, action, details)
    SELECT i, 'account ' || i / 100, NULL, 'operator', '', 'link.set', '{}'
    FROM generate_series(1, ${accounts * 100}) AS i;
  -- One account has a long log, in which few entries are about a key.
  INSERT INTO audit_log (at, account, pid, actor_type, actor_id, action, details)
    SELECT i, '${account}', NULL, 'operator', '', 'key.rotated', '{"keyId":"${keyId}","status":"active"}'
    FROM generate_series(1, 5) AS i;
  INSERT INTO audit_log (at, account, pid, actor_type, actor_id, action, details)
    SELECT i, '${account}', NULL, 'key', 'another key', 'link.set', '{}' FROM generate_series(1, 5000) AS i;
  INSERT INTO audit_log (at, account, pid, actor_type, actor_id, action, details, chat_id)
    SELECT i, '${account}', NULL, 'key', 'another key', 'link.removed', '{}', '${chatIdOf(1)}'
    FROM generate_series(1, 5) AS i;
  INSERT INTO day_counts (ends_at, counter, counted)
    SELECT ${windowsEnd}, 'day:' || i, i FROM generate_series(1, ${accounts * 300}) AS i;
  INSERT INTO blocks (pid, user_hash, chat_id, blocked_at)
    SELECT 'pid_' || lpad((i / 100)::text, 16, '0'), 'hash ' || i, (9000000 + i)::text, i
    FROM generate_series(1, ${accounts * 100}) AS i;
  INSERT INTO guild_logs (id, pid, guild_id, position, problems)
    SELECT 'log ' || i, 'pid_' || lpad((i / 10)::text, 16, '0'), i::text, 0, '[]'
    FROM generate_series(1, ${accounts * 10}) AS i;
  INSERT INTO import_progress (source, position, saved_at) SELECT 'source ' || i, i, i
    FROM generate_series(1, ${accounts * 100}) AS i;
`;

/**
 * A client that only reads the server's statistics. Its connection stays open, because a new connection for each
 * reading would take longer than most operations.
 */
class Statistics extends Context.Service<Statistics, SqlClient.SqlClient>()(
  "@accountlink/sql/postgres/test_plans/Statistics",
) {
  static readonly layer = Layer.unwrap(
    Effect.map(Database, ({ url }) =>
      Layer.effect(Statistics, SqlClient.SqlClient).pipe(
        Layer.provide(layerClient(url, { maxConnections: 1 })),
      ),
    ),
  );
}

/**
 * Makes a Postgres database with so many rows that a scan of a table reads far more rows than a lookup by an index.
 *
 * @param accounts more than 100, each with 1,000 links
 * @param prepare SQL to run on the empty schema
 */
export const layerFull = (accounts: number, prepare = "") =>
  Layer.provideMerge(Statistics.layer, layerFilled(accounts, prepare));

const layerFilled = (accounts: number, prepare: string) =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const database = yield* makePostgresDatabase();
      yield* Effect.provide(migrate, layerClient(database.url), { local: true });
      yield* database.query(prepare);
      yield* database.query(
        `${fill(accounts)} ${fillVerifications(accounts)} ${fillAlts(accounts)} ${fillUsage(accounts)} ${fillSignIns(accounts)} ${fillEvents(accounts)} ${fillRoles(accounts)}`,
      );
      yield* database.query("VACUUM ANALYZE");
      return database;
    }),
  );

const origin = { actor: { type: "operator", id: "test" }, requestId: null, pid, at: 1 } as const;

/** Lists audit entries of the account with a filter that matches few of these entries. */
const onLog = (filter: AuditFilter) => AuditLog.use((log) => log.list(account, null, 50, filter));

const importOf = (existing: ImportBatch["existing"]) =>
  LinkStore.use((links) =>
    links.importBatch({
      ...origin,
      links: chatIds(20).map((chatId) => ({ chatId, gameId: gameIdOf(0), lastVerifiedAt: 9 })),
      existing,
      proof: "import",
      progress: { source: "source 1", position: 2 },
    }),
  );

const operations: Readonly<
  Record<string, Effect.Effect<unknown, Conflict | StoreUnavailable, StoragePorts>>
> = {
  findByChatId: LinkStore.use((links) => links.findByChatId(pid, chatIdOf(1))),
  "findByChatId, batched": LinkStore.use((links) =>
    Effect.forEach(chatIds(32), (chatId) => links.findByChatId(pid, chatId), atOnce),
  ),
  findByChatIds: LinkStore.use((links) => links.findByChatIds(pid, chatIds(50))),
  findGamesByChatIds: LinkStore.use((links) => links.findGamesByChatIds(pid, chatIds(50))),
  findByGameIds: LinkStore.use((links) => links.findByGameIds(pid, gameIds(10))),
  "findByGameIds, batched": LinkStore.use((links) =>
    Effect.forEach(gameIds(32), (gameId) => links.findByGameIds(pid, [gameId]), atOnce),
  ),
  newestPage: LinkStore.use((links) => links.newestPage(pid, null, 50)),
  "newestPage, further": LinkStore.use((links) =>
    links.newestPage(pid, { lastVerifiedAt: number * 1_000 + 500, chatId: chatIdOf(500) }, 50),
  ),
  "newestPage, back": LinkStore.use((links) =>
    links.newestPage(pid, { lastVerifiedAt: number * 1_000 + 500, chatId: chatIdOf(500) }, 50, "newer"),
  ),
  // The links of the scope were verified one millisecond apart, so this range contains 50 links.
  "countLinks, verified": LinkStore.use((links) =>
    links.countLinks(pid, { verified: { from: number * 1_000 + 500, before: number * 1_000 + 550 } }),
  ),
  "countLinks, enough": LinkStore.use((links) => links.countLinks(pid, { enough: 50 })),
  exportPage: LinkStore.use((links) => links.exportPage(pid, chatIdOf(10), 50)),
  setGame: LinkStore.use((links) => links.setGame({ ...origin, chatId: chatIdOf(1), gameId: gameIdOf(2) })),
  "setGame of a new chat user": LinkStore.use((links) =>
    links.setGame({ ...origin, chatId: ChatId.make("99999"), gameId: gameIdOf(2) }),
  ),
  moveChat: LinkStore.use((links) =>
    links.moveChat({ ...origin, oldChatId: chatIdOf(2), newChatId: ChatId.make("99998") }),
  ),
  removeGame: LinkStore.use((links) => links.removeGame({ ...origin, chatId: chatIdOf(3) })),
  importBatch: importOf("replace"),
  "importBatch, kept": importOf("keep"),
  importPosition: LinkStore.use((links) => links.importPosition("source 100")),
  ensureAccount: KeyStore.use((keys) => keys.ensureAccount({ name: account, chatId: null, tier: "free" })),
  updateAccount: KeyStore.use((keys) =>
    keys.updateAccount({ ...origin, name: account, update: { status: "suspended" } }),
  ),
  ensureScope: KeyStore.use((keys) =>
    keys.ensureScope(account, { kind: "global" }, Pid.make("pid_none000000000000")),
  ),
  listScopes: KeyStore.use((keys) => keys.listScopes(account)),
  findScopeByPid: KeyStore.use((keys) => keys.findScopeByPid(pid)),
  findByHash: KeyStore.use((keys) => keys.findByHash(`hash ${keyId}`)),
  "findByHash, batched": KeyStore.use((keys) =>
    Effect.forEach(
      Array.from({ length: 10 }, (_, i) => `hash ${`${number}${i}`.padStart(12, "0")}`),
      (hash) => keys.findByHash(hash),
      atOnce,
    ),
  ),
  findDetails: KeyStore.use((keys) => keys.findDetails(keyId, 0)),
  findById: KeyStore.use((keys) => keys.findById(keyId)),
  acceptedAmong: KeyStore.use((keys) => keys.acceptedAmong([keyId], 1)),
  listKeys: KeyStore.use((keys) => keys.listKeys(account, 0)),
  insertKey: KeyStore.use((keys) =>
    Effect.flatMap(keys.findById(keyId), (found) => {
      if (found._tag === "None") return Effect.die("There is no such key");
      const id = KeyId.make(crypto.randomUUID().replaceAll("-", "").slice(0, 12));
      return keys.insertKey({ ...origin, key: { ...found.value, id }, hash: id, maxKeys: 100 });
    }),
  ),
  rotateKey: KeyStore.use((keys) =>
    keys.rotateKey({ ...origin, id: keyId, hash: crypto.randomUUID(), previousUntil: 1 }),
  ),
  updateKey: KeyStore.use((keys) => keys.updateKey({ ...origin, id: keyId, update: { name: "Another" } })),
  ...signInOperations,
  "AuditLog.list of an action": onLog({ action: "key.rotated", keyId: null }),
  "AuditLog.list of a key": onLog({ action: null, keyId }),
  "AuditLog.list of a chat user": onLog({ action: null, keyId: null, chatId: chatIdOf(1) }),
  "AuditLog.list": AuditLog.use((log) => log.list(account, null, 50)),
  "DayCounts.save": DayCounts.use((counts) =>
    counts.save(
      windows.map((window) => ({ ...window, counted: 9 })),
      1,
    ),
  ),
  ...verificationOperations,
  ...altOperations,
  ...usageOperations,
  ...eventOperations,
  ...roleOperations,
};

/**
 * Reads the counters that Postgres keeps for each table: the sequential scans, the rows and index entries that were
 * read, and the pages that were read.
 */
const counts = Effect.gen(function* () {
  const sql = yield* Statistics;
  const tables = yield* sql`
    SELECT relname AS name, seq_scan AS scans, seq_tup_read + (
      SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS indexes WHERE indexes.relid = tables.relid
    ) AS read, (
      SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit
      FROM pg_statio_user_tables AS pages WHERE pages.relid = tables.relid
    ) AS pages
    FROM pg_stat_user_tables AS tables WHERE relname <> 'schema_migrations' ORDER BY relname`;
  return tables.map(({ name, scans, read, pages }) => ({
    name,
    scans: Number(scans),
    read: Number(read),
    pages: Number(pages),
  }));
});

/** Counts what an operation reads, from the server's statistics. */
export const readsOf = Effect.fnUntraced(function* (mode: string, operation: (typeof operations)[string]) {
  const { url } = yield* Database;
  const inMode = new URL(url);
  inMode.searchParams.set("options", `-c plan_cache_mode=${mode}`);
  const before = yield* counts;
  const flush = "SELECT pg_stat_force_next_flush()";
  yield* operation.pipe(
    Effect.andThen(SqlClient.SqlClient.use((sql) => sql.unsafe(flush))),
    Effect.andThen(SqlConnection.Connection.use((shared) => shared.execute(flush, [], undefined))),
    Effect.provide(Layer.provideMerge(stores, layerClient(inMode.href, { maxConnections: 1 })), {
      local: true,
    }),
  );
  const after = yield* counts;
  return after.map(({ name, scans, read, pages }, i) => ({
    name,
    scans: scans - (before[i]?.scans ?? 0),
    read: read - (before[i]?.read ?? 0),
    pages: pages - (before[i]?.pages ?? 0),
  }));
});

/** The plan modes of Postgres for prepared statements. Operations are measured in each mode. */
export const modes = ["force_custom_plan", "force_generic_plan"] as const;

export const cases = Object.entries(operations).flatMap(([name, operation]) =>
  modes.map((mode) => ({ name, mode, operation })),
);

/**
 * The maximum number of rows that an operation may read. A scan of one scope's links or of all keys would read more.
 */
export const maxReads = 200;
