/** For tests: counts the rows that Postgres reads for each operation of the stores. */
import type { StoragePorts } from "@accountlink/core";
import { makePostgresDatabase } from "@accountlink/test-servers";
import { Effect, Layer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { migrate } from "../migrations.ts";
import { layer as stores } from "../stores.ts";
import { addStrangers } from "../test_strangers.ts";
import { fill } from "./test_plan_rows.ts";
import { Database, layerClient } from "./test_postgres.ts";

/**
 * Makes a Postgres database with so many rows that a scan of a table reads far more rows than a lookup by an index.
 *
 * @param accounts more than `number`, each with 1,000 links
 * @param prepare SQL to run on the empty schema
 */
export const layerFull = (accounts: number, prepare = "") =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const database = yield* makePostgresDatabase();
      yield* Effect.provide(migrate, layerClient(database.url), { local: true });
      yield* database.query(prepare);
      yield* database.query(fill(accounts));
      yield* Effect.provide(addStrangers(1, 2_000), layerClient(database.url), { local: true });
      yield* database.query("VACUUM ANALYZE");
      return database;
    }),
  );

/**
 * Reads the counters that Postgres keeps for each table: the sequential scans, the rows and index entries that were
 * read, and the pages that were read.
 */
const counts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
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

const flush = "SELECT pg_stat_force_next_flush()";

/** Counts what an operation reads, from the server's statistics. */
export const readsOf = Effect.fnUntraced(function* <E>(
  mode: string,
  operation: Effect.Effect<unknown, E, StoragePorts>,
) {
  const { url } = yield* Database;
  const inMode = new URL(url);
  inMode.searchParams.set("options", `-c plan_cache_mode=${mode}`);
  return yield* Effect.gen(function* () {
    const before = yield* counts;
    yield* operation;
    yield* SqlClient.SqlClient.use((sql) => sql.unsafe(flush));
    yield* SqlConnection.Connection.use((shared) => shared.execute(flush, [], undefined));
    const after = yield* counts;
    return after.map(({ name, scans, read, pages }, i) => ({
      name,
      scans: scans - (before[i]?.scans ?? 0),
      read: read - (before[i]?.read ?? 0),
      pages: pages - (before[i]?.pages ?? 0),
    }));
  }).pipe(
    Effect.provide(Layer.provideMerge(stores, layerClient(inMode.href, { maxConnections: 1 })), {
      local: true,
    }),
  );
});

/**
 * The maximum number of rows that an operation may read. A scan of one scope's links or of all keys would read more.
 */
export const maxReads = 200;
