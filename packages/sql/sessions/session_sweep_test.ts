import { SessionStore } from "@accountlink/core/sessions";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "../migrations.ts";
import { layerClientOnDatabase } from "../postgres/test_postgres.ts";
import { layerSqlite } from "../sqlite/client/sql_client.ts";
import { layer as stores } from "../stores.ts";

const missing = await whyNoPostgresDatabase();

const databases = [
  { name: "SQLite", client: layerSqlite({ filename: ":memory:" }), skipped: null },
  { name: "Postgres", client: layerClientOnDatabase(), skipped: missing },
];

/** More rows than a sweep deletes in two batches. */
const count = 1_200;

/** Adds two scopes with `count` sightings each, seen at the times 1, 2, 3 and so on. */
const storeSightings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  yield* sql`INSERT INTO scopes (pid, account, guild_id) VALUES ('pid_1', 'acme', NULL), ('pid_2', 'acme', '10001')`;
  yield* sql`
    INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at)
    WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
    SELECT pid, CAST(100000 - i AS TEXT), 'hash', 'sealed', 'k1', i FROM scopes CROSS JOIN numbers`;
});

const kept = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT pid, COUNT(*) AS count, MIN(seen_at) AS oldest FROM sightings GROUP BY pid ORDER BY pid`,
);

describe.each(databases)("a sweep on $name", ({ client, skipped }) => {
  test.skipIf(skipped !== null)("a sweep deletes older sightings in every scope, and keeps the others", () =>
    Effect.gen(function* () {
      yield* migrate;
      yield* storeSightings;
      const sessions = yield* Effect.provide(SessionStore, stores);
      const sweep = (sightingsBefore: number) =>
        sessions.sweep({ at: 0, sessionsBefore: 0, sightingsBefore });
      const rowsFrom = (oldest: number) =>
        ["pid_1", "pid_2"].map((pid) => ({ pid, count: count - oldest + 1, oldest }));

      yield* sweep(0);
      yield* sweep(1);
      expect(yield* kept).toEqual(rowsFrom(1));
      yield* sweep(2);
      expect(yield* kept).toEqual(rowsFrom(2));
      yield* sweep(count);
      expect(yield* kept).toEqual(rowsFrom(count));
    }).pipe(Effect.provide(client, { local: true })),
  );
});
