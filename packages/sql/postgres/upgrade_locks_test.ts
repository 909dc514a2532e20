/** A node of the release before looks up and writes while a new one migrates its Postgres. */
import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { Context, Effect, Exit, Fiber, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { changeSchema } from "../migrations/change_schema.ts";
import { migrateBy, migrations, runMigrations } from "../migrations.ts";
import { Database, layerClient, layerClientOnDatabase, testOnDatabase } from "./test_postgres.ts";

// It takes a minute, and writes that never pause make a step give way again and again.
const missing = await whyNoPostgresDatabase();
const missingInTest = missing ?? (isProof ? null : "in the proof");
const rowsOfTable = 1_000_000;
const batch = 50_000;

const [initial] = Object.entries(migrations);
const before = Object.fromEntries(initial === undefined ? [] : [initial]);

const byProof = {
  ...migrations,
  "0998_by_proof": changeSchema("CREATE INDEX links_by_proof ON links (proof, pid)"),
};

/** The steps of this release, and some on tables with many rows, as a release may have them. */
const next = {
  ...byProof,
  "0999_colours": changeSchema(`
    ALTER TABLE links ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';
    CREATE INDEX journal_by_request ON journal (request_id, place);
    DROP INDEX links_by_user
  `),
};

const addScope = (sql: SqlClient.SqlClient) =>
  Effect.andThen(
    sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`,
    sql`INSERT INTO scopes (pid, account) VALUES ('pid_1', 'acme')`,
  );

const fill = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* addScope(sql);
    for (let from = 1; from < rowsOfTable; from += batch) {
      const numbers = sql`generate_series(${from}::int, ${from + batch - 1}::int) AS n`;
      yield* sql`
        INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
        SELECT 'pid_1', n::text, n::text, 1, n, n FROM ${numbers}`;
      yield* sql`
        INSERT INTO journal (place, at, action, actor_type, actor_id, details, chat_id)
        SELECT 'pid_1', n, 'link.set', 'key', 'k', '{"gameId":"' || n || '"}', n::text FROM ${numbers}`;
      yield* sql`
        INSERT INTO role_members (pid, guild_id, chat_id, mark) SELECT 'pid_1', '7', n::text, 0 FROM ${numbers}`;
    }
  });

/** What a node of the release before does for a write: a link, and its record. */
const writeOn = (sql: SqlClient.SqlClient, n: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`UPDATE scopes SET account = account WHERE pid = 'pid_1'`;
      yield* sql`
        INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
        VALUES ('pid_1', ${`new ${n}`}, '1', 1, 1, 1)`;
      yield* sql`
        INSERT INTO journal (place, at, action, actor_type, actor_id, details, chat_id)
        VALUES ('pid_1', 1, 'link.set', 'key', 'k', '{}', ${`new ${n}`})`;
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
    "keeps no lookup of an old node waiting for a second, no write for five, and loses none of its writes",
    function* () {
      const { url } = yield* Database;
      const sql = yield* SqlClient.SqlClient;
      yield* runMigrations(before);
      yield* fill(sql);
      const old = Context.get(yield* Layer.build(layerClient(url)), SqlClient.SqlClient);
      const lookups = timed(
        (n) => old`SELECT game_id FROM links WHERE pid = 'pid_1' AND chat_id = ${String(n)}`,
      );
      const writes = timed((n) => writeOn(old, n));
      const changes = timed((n) => old`UPDATE role_members SET mark = 1 WHERE chat_id = ${String(n * 7)}`);
      const loops = yield* Effect.forEach([lookups, writes, changes], ({ loop }) => Effect.forkScoped(loop));
      expect(yield* migrateBy(next)).toEqual(["plan_statistics", "by_proof", "colours"]);
      // None of them has failed.
      expect(loops.map((loop) => loop.pollUnsafe())).toEqual(loops.map(() => undefined));
      yield* Effect.forEach(loops, (loop) => Fiber.interrupt(loop));
      expect(lookups.seen.longest).toBeLessThan(1_000);
      expect(writes.seen.longest).toBeLessThan(5_000);

      const [counts] = yield* sql<Record<string, number>>`
        SELECT (SELECT COUNT(*) FROM links WHERE colour = 'grey')::int AS links,
          (SELECT COUNT(*) FROM journal)::int AS journal,
          (SELECT COUNT(*) FROM role_members WHERE mark = 1)::int AS changed`;
      expect(counts?.["links"]).toBe(counts?.["journal"]);
      expect(counts?.["links"]).toBeGreaterThanOrEqual(rowsOfTable + writes.seen.rounds - 1);
      expect(counts?.["changed"]).toBeGreaterThanOrEqual(
        Math.min(changes.seen.rounds - 1, Math.floor(rowsOfTable / 7)),
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
      yield* runMigrations(migrations);
      yield* addScope(sql);
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
          const upgrade = yield* Effect.forkScoped(migrateBy(byProof));
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
      expect(yield* migrateBy(byProof)).toEqual(["by_proof"]);
      expect(yield* sql`SELECT chat_id FROM links ORDER BY chat_id`).toHaveLength(3);
      const built = yield* indexes;
      const other = layerClientOnDatabase();
      const fresh = yield* Effect.andThen(migrateBy(byProof), indexes).pipe(
        Effect.provide(other, { local: true }),
      );
      expect(built).toEqual(fresh);
    },
  );
});
