import { TurnAccount } from "@accountlink/core/turns";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, layer as withLayer } from "@accountlink/test-servers/effect";
import { Cause, Effect, Exit, Fiber, Latch, Layer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { Database, layerClientOnDatabase, testOnDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const reverse = <A>(rows: ReadonlyArray<A>) => rows.toReversed();

const backendOf = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [row] = yield* sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`;
  return row?.pid;
});

const test = testOnDatabase();

describe.skipIf(missing !== null)(`layerPostgresClient ${missing ?? ""}`, () => {
  test("statements return rows, values and the result of the driver", function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* sql`CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT)`;
    const rows = [
      { id: 1, name: "a" },
      { id: Number.MAX_SAFE_INTEGER, name: 'it\'s "b" {}' },
    ] as const;
    expect(yield* sql`INSERT INTO things ${sql.insert([...rows])}`.raw).toMatchObject({
      command: "INSERT",
      rowCount: 2,
    });
    expect(yield* sql`SELECT * FROM things ORDER BY id`).toEqual(rows);
    expect(yield* sql`SELECT * FROM things ORDER BY id`.values).toEqual(rows.map(Object.values));
    expect(yield* sql`SELECT id FROM things WHERE ${sql.in("id", [1, 2])}`.unprepared).toEqual([{ id: 1 }]);
    expect(yield* sql`SELECT id FROM things WHERE id = ${1n}`.valuesUnprepared).toEqual([[1]]);
    expect(yield* sql`SELECT ${null}::text AS n, ${true}::boolean::int AS b`).toEqual([{ n: null, b: 1 }]);
  });

  test("the service Connection runs SQL text with parameters", function* () {
    const connection = yield* SqlConnection.Connection;
    const text = "SELECT n FROM (VALUES ($1::bigint), ($2)) AS numbers (n)";
    expect(yield* connection.execute(text, [1, 2], undefined)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(yield* connection.execute(text, [1, 2], reverse)).toEqual([{ n: 2 }, { n: 1 }]);
  });

  testOnDatabase({ maxConnections: 1 })(
    "a statement is prepared once, and again after a schema change",
    function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE TABLE things (id BIGINT)`;
      const all = sql`SELECT * FROM things`;
      yield* all;
      yield* all;
      expect(
        yield* sql`SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT * FROM things'`
          .values,
      ).toEqual([[1]]);
      yield* sql`ALTER TABLE things ADD COLUMN name TEXT`;
      expect(yield* all).toEqual([]);
    },
  );
});

describe.skipIf(missing !== null)(`errors ${missing ?? "of Postgres"}`, () => {
  const things = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* sql`CREATE TABLE owners (name TEXT PRIMARY KEY)`;
    yield* sql`
      CREATE TABLE things (
        id BIGINT PRIMARY KEY, a TEXT NOT NULL, b TEXT CHECK (b <> 'hidden'), owner TEXT REFERENCES owners (name),
        UNIQUE (a, b)
      )`;
    yield* sql`INSERT INTO things (id, a, b) VALUES (1, 'hidden', 'b')`;
  });

  withLayer(Layer.provideMerge(Layer.effectDiscard(things), layerClientOnDatabase()), {
    excludeTestServices: true,
  })((onThings) => {
    onThings.effect.each([
      ["INSERT INTO things (id, a, b) VALUES (2, $1, 'b')", "UniqueViolation"],
      ["INSERT INTO things (id, a) VALUES (2, nullif($1, 'hidden'))", "ConstraintError"],
      ["INSERT INTO things (id, a, b) VALUES (2, 'a', $1)", "ConstraintError"],
      ["INSERT INTO things (id, a, owner) VALUES (2, 'a', $1)", "ConstraintError"],
      ["INSERT INTO things (id, a) VALUES ($1, 'a')", "ConstraintError"],
      ["SELECT $1::bigint", "ConstraintError"],
      ["SELECT $1::json", "ConstraintError"],
      ["SELECT $1 FROM nothing", "SqlSyntaxError"],
      ["SELEKT $1", "SqlSyntaxError"],
      ["SELECT lo_import($1)", "ConnectionError"],
      ["SELECT pg_terminate_backend(pg_backend_pid()), $1::text", "ConnectionError"],
    ] as const)("the statement %s fails with %s", ([text, reason]) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient;
        const { url } = yield* Database;

        const exit = yield* Effect.exit(sql.unsafe(text, ["hidden"]));

        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined;
        expect(error).toMatchObject({ _tag: "SqlError", reason: { _tag: reason } });
        const told = Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "";
        const { password, host, pathname } = new URL(url);
        for (const secret of ["hidden", "things", "SELE", password, host, pathname]) {
          expect(told).not.toContain(secret);
        }
        // The client still works after the error.
        expect(yield* sql`SELECT count(*) FROM owners`.values).toEqual([[0]]);
      }),
    );
  });
});

describe.skipIf(missing !== null)(`transactions ${missing ?? "on Postgres"}`, () => {
  const table = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`CREATE TABLE things (id BIGINT PRIMARY KEY, owner BIGINT REFERENCES things DEFERRABLE INITIALLY DEFERRED)`,
  );
  const ids = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM things ORDER BY id`.values);
  const openTransactions = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`
      SELECT state FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'`.values,
  );

  testOnDatabase({ maxConnections: 1 })("transactions commit on success, and else roll back", function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* table;
    const insert = (id: number) => sql`INSERT INTO things VALUES (${id}, NULL)`;
    yield* sql.withTransaction(Effect.void);
    yield* sql.withTransaction(Effect.andThen(insert(1), insert(2)));
    const failing: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
      Effect.fail("no"),
      Effect.andThen(insert(3), Effect.fail("no")),
      Effect.andThen(insert(4), Effect.die("no")),
      Effect.andThen(insert(5), insert(5)),
      Effect.andThen(sql.unsafe("INSERT INTO things VALUES (6, NULL)").unprepared, Effect.fail("no")),
      sql`SELECT 1 / 0`,
      sql.unsafe("SELEKT").unprepared,
    ];
    for (const each of failing) {
      expect(Exit.isFailure(yield* Effect.exit(sql.withTransaction(each)))).toBe(true);
    }
    expect(yield* ids).toEqual([[1], [2]]);
    expect(yield* openTransactions).toEqual([]);
  });

  test("a transaction fails if one of its statements failed, even if the error was caught", function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* table;
    const error = yield* sql`INSERT INTO things VALUES (1, NULL)`.pipe(
      Effect.andThen(Effect.exit(sql`SELECT 1 / 0`)),
      sql.withTransaction,
      Effect.flip,
    );
    expect(error.message).toBe("Cannot commit: a statement of the transaction had failed");
    expect(yield* ids).toEqual([]);
  });

  test("transactions fail when their COMMIT fails, and leave a usable connection", function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* table;
    const error = yield* Effect.flip(sql.withTransaction(sql`INSERT INTO things VALUES (1, 2)`));
    expect(error.reason._tag).toBe("ConstraintError");
    yield* sql`INSERT INTO things VALUES (1, NULL)`;
    expect(yield* ids).toEqual([[1]]);
    expect(yield* openTransactions).toEqual([]);
  });

  test("transactions nest, and a failed inner one is rolled back alone", function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* table;
    const insert = (id: number) => sql`INSERT INTO things VALUES (${id}, NULL)`;
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* insert(1);
        yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(2), insert(2))));
        yield* sql.withTransaction(insert(3));
      }),
    );
    expect(yield* ids).toEqual([[1], [3]]);
  });

  test("transactions run the statements of several fibers in turn on one connection", function* () {
    const sql = yield* SqlClient.SqlClient;
    const backends = yield* sql.withTransaction(
      Effect.replicateEffect(backendOf, 10, { concurrency: "unbounded" }),
    );
    expect(new Set(backends).size).toBe(1);
  });

  testOnDatabase({ maxConnections: 1 })(
    "transactions roll back when they are interrupted during a statement",
    function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* table;
      const inserted = yield* Latch.make();
      const fiber = yield* sql`INSERT INTO things VALUES (1, NULL)`.pipe(
        Effect.andThen(inserted.open),
        Effect.andThen(sql`SELECT pg_sleep(0.1)`),
        Effect.andThen(sql`INSERT INTO things VALUES (2, NULL)`),
        sql.withTransaction,
        Effect.forkChild,
      );
      yield* inserted.await;
      yield* Fiber.interrupt(fiber);
      expect(yield* ids).toEqual([]);
      expect(yield* openTransactions).toEqual([]);
    },
  );

  testOnDatabase({ maxConnections: 6 })(
    "transactions of one account that wait leave a connection to others",
    function* () {
      const sql = yield* SqlClient.SqlClient;
      const [reached, over] = [yield* Latch.make(), yield* Latch.make()];
      let open = 0;
      const waiting = Effect.gen(function* () {
        yield* sql`SELECT 1`;
        if (++open === 4) yield* reached.open;
        yield* over.await;
      }).pipe(sql.withTransaction, Effect.provideService(TurnAccount, "first"));
      const all = yield* Effect.forkChild(Effect.replicateEffect(waiting, 10, { concurrency: "unbounded" }));
      yield* reached.await;

      yield* Effect.provideService(sql`SELECT 1`, TurnAccount, "second");

      expect(open).toBe(4);
      yield* over.open;
      yield* Fiber.join(all);
      expect(open).toBe(10);
    },
  );
});
