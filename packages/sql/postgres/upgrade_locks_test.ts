/** A node of the release before looks up and writes while a new one migrates its Postgres. */
import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { Context, Effect, Exit, Fiber, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { migrate, newestMigration, runMigrations } from "../migrations.ts";
import { stepsBefore } from "../test_earlier_steps.ts";
import { Database, layerClient, layerClientOnDatabase, testOnDatabase } from "./test_postgres.ts";

// It takes a minute, and writes that never pause make a step give way again and again.
const missing = await whyNoPostgresDatabase();
const missingInTest = missing ?? (isProof ? null : "in the proof");
const filled = 1_000_000;
const batch = 50_000;

const makeScope = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  yield* sql`INSERT INTO scopes (pid, account) VALUES ('pid_1', 'acme')`;
});

/** Writes links and their records for a range of numbers. */
const writeOn = (sql: SqlClient.SqlClient, from: number, to: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const numbers = sql`generate_series(${from}::int, ${to}::int) AS n`;
      yield* sql`
        INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
        SELECT 'pid_1', n::text, '1', 1, 1, 1 FROM ${numbers}`;
      yield* sql`
        INSERT INTO journal (place, event_id, at, action, actor_type, actor_id, member, details, chat_id)
        SELECT 'pid_1', 'evt_' || n, n, 'link.set', 'account', 'acme', n::text, '{}', n::text FROM ${numbers}`;
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
    "keeps no lookup of an old node waiting for a second, and no write for five",
    function* () {
      const { url } = yield* Database;
      const sql = yield* SqlClient.SqlClient;
      yield* runMigrations(stepsBefore("0027"));
      yield* makeScope;
      for (let from = 1; from < filled; from += batch) yield* writeOn(sql, from, from + batch - 1);
      const old = Context.get(yield* Layer.build(layerClient(url)), SqlClient.SqlClient);
      const lookups = timed(() => old`SELECT game_id FROM links WHERE pid = 'pid_1' AND chat_id = '7'`);
      const writes = timed((n) => writeOn(old, filled + n, filled + n));
      const loops = yield* Effect.forEach([lookups, writes], ({ loop }) => Effect.forkScoped(loop));
      expect(yield* migrate).toHaveLength(newestMigration - 26);
      // None of them has failed.
      expect(loops.map((loop) => loop.pollUnsafe())).toEqual(loops.map(() => undefined));
      yield* Effect.forEach(loops, (loop) => Fiber.interrupt(loop));
      expect(lookups.seen.longest).toBeLessThan(1_000);
      expect(writes.seen.longest).toBeLessThan(5_000);
      expect(writes.seen.rounds).toBeGreaterThan(100);
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
      yield* runMigrations(stepsBefore("0033"));
      yield* makeScope;
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

  testOnDatabase({ maxConnections: 8 })("are built once if two nodes upgrade together", function* () {
    const { url, query } = yield* Database;
    const sql = yield* SqlClient.SqlClient;
    yield* runMigrations(stepsBefore("0033"));
    yield* makeScope;
    const built = sql`SELECT index_relid::int AS id FROM pg_stat_progress_create_index
        WHERE relid = 'links'::regclass AND datname = current_database()`;
    const other = Context.get(yield* Layer.build(layerClient(url)), SqlClient.SqlClient);
    const { upgrades, id } = yield* other.withTransaction(
      Effect.gen(function* () {
        yield* other`
            INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
            VALUES ('pid_1', '1', '1', 1, 1, 1)`;
        const first = yield* Effect.forkScoped(migrate);
        const [row] = yield* Effect.repeat(built, { until: ([found]) => Number(found?.["id"] ?? 0) > 0 });
        const second = yield* Effect.forkScoped(Effect.provide(migrate, layerClient(url), { local: true }));
        // The second node asks for the lock of migrations again and again.
        const asked = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
            AND query LIKE 'SELECT pg_try_advisory_lock%' AND state = 'idle'`;
        yield* Effect.repeat(query(asked), { until: (rows) => rows.length > 0 });
        return { upgrades: [first, second], id: row?.["id"] };
      }),
    );
    for (const upgrade of upgrades) yield* Fiber.join(upgrade);
    expect(yield* query(`SELECT indisvalid FROM pg_index WHERE indexrelid = ${String(id)}`)).toEqual([
      { indisvalid: true },
    ]);
  });
});
