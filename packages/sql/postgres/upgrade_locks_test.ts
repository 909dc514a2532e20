/** A node of the release before looks up and writes while a new one migrates its Postgres. */
import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { Context, Effect, Exit, Fiber, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { migrate, migrations, newestMigration, runMigrations } from "../migrations.ts";
import { Database, layerClient, layerClientOnDatabase, testOnDatabase } from "./test_postgres.ts";

// It takes a minute, and writes that never pause make a step give way again and again.
const missing = await whyNoPostgresDatabase();
const missingInTest = missing ?? (isProof ? null : "in the proof");
const entries = 1_000_000;
const batch = 50_000;
const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0023"));

const fill = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
    yield* sql`INSERT INTO scopes (pid, account) VALUES ('pid_1', 'acme')`;
    for (let from = 1; from < entries; from += batch) {
      const numbers = sql`generate_series(${from}::int, ${from + batch - 1}::int) AS n`;
      yield* sql`
        INSERT INTO audit_log (at, account, pid, actor_type, actor_id, action, details, chat_id)
        SELECT n, 'acme', 'pid_1', 'key', 'k', 'link.set', '{"gameId":"' || n || '"}', n::text FROM ${numbers}`;
      yield* sql`
        INSERT INTO events (pid, position, id, type, at, data)
        SELECT 'pid_1', n, 'evt_' || n, 'link.set', n, '{"chatId":"' || n || '"}' FROM ${numbers}`;
    }
  });

/** What a node of the release before does for a write: an event, its number, and an entry. */
const writeOn = (sql: SqlClient.SqlClient, n: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`UPDATE scopes SET account = account WHERE pid = 'pid_1'`;
      yield* sql`
        INSERT INTO audit_log (at, account, pid, actor_type, actor_id, action, details, chat_id)
        VALUES (1, 'acme', 'pid_1', 'key', 'k', 'link.set', '{}', ${`new ${n}`})`;
      yield* sql`
        INSERT INTO events (pid, position, id, type, at, data)
        VALUES ('pid_1', ${entries + n}, ${`new_${n}`}, 'link.set', 1, '{}')`;
    }),
  );

/** Runs an effect again and again, and keeps how long the longest took. */
const timed = <E>(effect: (round: number) => Effect.Effect<unknown, E>) => {
  const seen = { longest: 0, rounds: 0 };
  const once = Effect.suspend(() => {
    const at = performance.now();
    return Effect.tap(effect(++seen.rounds), () =>
      Effect.sync(() => {
        seen.longest = Math.max(seen.longest, performance.now() - at);
      }),
    );
  });
  return { seen, loop: Effect.forever(Effect.andThen(once, Effect.yieldNow)) };
};

describe.skipIf(missingInTest !== null)(`an upgrade of Postgres ${missingInTest ?? ""}`, () => {
  testOnDatabase()(
    "keeps no lookup of an old node waiting for a second, no write for five, and copies what it writes",
    function* () {
      const { url } = yield* Database;
      const sql = yield* SqlClient.SqlClient;
      yield* runMigrations(before);
      yield* fill(sql);
      const old = Context.get(yield* Layer.build(layerClient(url)), SqlClient.SqlClient);
      const lookups = timed(() => old`SELECT pid FROM scopes WHERE pid = 'pid_1'`);
      const writes = timed((n) => writeOn(old, n));
      const changes = timed(
        (n) => old`UPDATE audit_log SET actor_id = 'erased' WHERE chat_id = ${String(n * 7)}`,
      );
      yield* old`DELETE FROM events WHERE sequence = 3`;
      const loops = yield* Effect.forEach([lookups, writes, changes], ({ loop }) => Effect.forkScoped(loop));
      const all = yield* migrate;
      expect(all.length).toBe(newestMigration - 22);
      // None of them has failed.
      expect(loops.map((loop) => loop.pollUnsafe())).toEqual(loops.map(() => undefined));
      yield* Effect.forEach(loops, (loop) => Fiber.interrupt(loop));
      expect(lookups.seen.longest).toBeLessThan(1_000);
      expect(writes.seen.longest).toBeLessThan(5_000);

      const [counts] = yield* sql<Record<string, number>>`
        SELECT (COUNT(*) FILTER (WHERE event_id IS NOT NULL))::int AS events,
          (COUNT(*) FILTER (WHERE actor_type IS NOT NULL))::int AS entries,
          (COUNT(*) FILTER (WHERE actor_id = 'erased'))::int AS erased FROM journal`;
      const written = yield* sql`SELECT COUNT(*)::int AS n FROM journal WHERE chat_id LIKE 'new %'`;
      const [row] = written as ReadonlyArray<{ readonly n: number }>;
      expect(counts?.["events"]).toBe(entries - 1 + (row?.n ?? 0));
      expect(counts?.["entries"]).toBe(entries + (row?.n ?? 0));
      expect(row?.n).toBeGreaterThanOrEqual(writes.seen.rounds - 1);
      expect(counts?.["erased"]).toBeGreaterThanOrEqual(
        Math.min(changes.seen.rounds - 1, Math.floor(entries / 7)),
      );
    },
  );
});

/** Every index, with whether it is valid. */
const indexes = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT pg_get_indexdef(indexrelid) AS index, indisvalid FROM pg_index
    WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace) ORDER BY 1`,
);

describe.skipIf(missing !== null)(`indexes of an upgrade of Postgres ${missing ?? ""}`, () => {
  testOnDatabase()(
    "are built beside the writes of old nodes, also after a build that was cut off",
    function* () {
      const { url } = yield* Database;
      const sql = yield* SqlClient.SqlClient;
      yield* runMigrations(Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0033")));
      yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
      yield* sql`INSERT INTO scopes (pid, account) VALUES ('pid_1', 'acme')`;
      const old = Context.get(yield* Layer.build(layerClient(url)), SqlClient.SqlClient);
      const link = (to: SqlClient.SqlClient, chatId: string) => to`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
      VALUES ('pid_1', ${chatId}, '1', 1, 1, 1)`;
      const isBuilding = sql`
      SELECT 1 FROM pg_stat_progress_create_index WHERE relid = 'links'::regclass AND datname = current_database()`;
      const untilBuilding = Effect.repeat(isBuilding, { until: (rows) => rows.length > 0 });
      const cutOff = yield* old.withTransaction(
        Effect.gen(function* () {
          yield* link(old, "1");
          const upgrade = yield* Effect.forkScoped(migrate);
          yield* untilBuilding;
          // Another transaction writes into the table whose index is being built.
          yield* link(sql, "2");
          yield* link(old, "3");
          yield* sql`
          SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()`;
          return upgrade;
        }),
      );
      expect(Exit.isFailure(yield* Fiber.await(cutOff))).toBe(true);
      expect(yield* indexes).toContainEqual(expect.objectContaining({ indisvalid: false }));
      expect(yield* migrate).toHaveLength(newestMigration - 32);
      expect(yield* sql`SELECT chat_id FROM links ORDER BY chat_id`).toHaveLength(3);
      const built = yield* indexes;
      const other = layerClientOnDatabase();
      const fresh = yield* Effect.andThen(migrate, indexes).pipe(Effect.provide(other, { local: true }));
      expect(built).toEqual(fresh);
    },
  );
});
