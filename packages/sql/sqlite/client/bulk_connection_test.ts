import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test as plainTest } from "@accountlink/test-servers/effect";
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect";
import { SqlClient } from "effect/sql";
import { add, bulk, names, test } from "../test_database.ts";
import { makeTempFolder } from "../test_folder.ts";
import { layerSqlite } from "./sql_client.ts";

/** Counts to three million, which takes hundreds of milliseconds. */
const countFar = (sql: SqlClient.SqlClient) => sql<{ count: number }>`
  WITH RECURSIVE far (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM far WHERE number < 3000000)
  SELECT CAST(COUNT(*) AS INTEGER) AS count FROM far`;

/** Starts a bulk transaction that inserts `a`, and then takes hundreds of milliseconds in its thread. */
const openBulk = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const opened = yield* Deferred.make<void>();
  const fiber = yield* Effect.forkChild(
    bulk(
      sql,
      add(sql, "a").pipe(Effect.andThen(Deferred.succeed(opened, undefined)), Effect.andThen(countFar(sql))),
    ),
  );
  yield* Deferred.await(opened);
  return fiber;
});

test("a statement of a bulk transaction delays no read", function* ({ sql, connection }) {
  const fiber = yield* openBulk(sql);
  for (const read of [
    sql`SELECT name FROM counters`.values,
    connection.executeValues("SELECT name FROM counters", []),
  ]) {
    expect(yield* read).toEqual([]);
    expect(fiber.pollUnsafe()).toBeUndefined();
  }
  expect(yield* Fiber.join(fiber)).toEqual([{ count: 3_000_000 }]);
  expect(yield* connection.executeValues("SELECT name FROM counters", [])).toEqual([["a"]]);
});

test("an answered bulk transaction is visible to the reads of the same turn", function* ({
  sql,
  connection,
}) {
  const read = connection.executeValues("SELECT name FROM counters", []);
  for (const name of ["a", "b", "c"]) {
    yield* read;
    yield* bulk(sql, add(sql, name));
    expect((yield* read).at(-1)).toEqual([name]);
  }
});

test("bulk transactions survive a crash of the machine, and enforce foreign keys", function* ({ sql }) {
  const settings = Effect.forEach(
    ["synchronous", "fullfsync", "secure_delete", "foreign_keys"],
    (name) => sql.unsafe(`PRAGMA ${name}`).values,
  );
  expect((yield* bulk(sql, settings)).flat(2)).toEqual([2, 1, 1, 1]);
});

test("bulk transactions and others take turns", function* ({ sql }) {
  yield* add(sql, "shared", 0);
  const increment = Effect.gen(function* () {
    const rows = yield* sql<{ count: number }>`SELECT count FROM counters`;
    yield* Effect.yieldNow;
    yield* sql`UPDATE counters SET count = ${(rows[0]?.count ?? Number.NaN) + 1}`;
  });
  yield* Effect.forEach(
    Array.from({ length: 40 }, (_, index) => index % 2 === 0),
    (isBulk) => (isBulk ? bulk(sql, increment) : sql.withTransaction(increment)),
    { concurrency: "unbounded" },
  );
  expect(yield* sql`SELECT count FROM counters`.values).toEqual([[40]]);
});

test(
  "a write waits for a bulk transaction longer than for the lock of another process",
  function* ({ sql }) {
    const first = yield* openBulk(sql);
    const next = yield* Effect.forkChild(bulk(sql, sql`SELECT name FROM counters ORDER BY name`.values));
    yield* add(sql, "b");
    yield* Fiber.join(first);
    expect(yield* Fiber.join(next)).toEqual([["a"], ["b"]]);
  },
  { busyTimeout: "1 millis" },
);

test("a bulk transaction rolls back when one of its statements fails", function* (fixture) {
  const { sql } = fixture;
  const undone = add(sql, "undone");
  const taken = yield* Effect.flip(bulk(sql, Effect.andThen(undone, undone)));
  expect(taken.reason).toMatchObject({ _tag: "UniqueViolation", constraint: "counters.name" });
  yield* bulk(sql, add(sql, "kept"));
  expect(names(fixture)).toEqual(["kept"]);
});

test("a fiber that outlives its bulk transaction can no longer run statements in it", function* (fixture) {
  const { sql } = fixture;
  const ended = yield* Deferred.make<void>();
  const late = yield* bulk(sql, Effect.forkDetach(Effect.andThen(Deferred.await(ended), add(sql, "late"))));
  yield* Deferred.succeed(ended, undefined);
  expect(Exit.isFailure(yield* Fiber.await(late))).toBe(true);
  expect(names(fixture)).toEqual([]);
});

plainTest("a bulk transaction fails when the database is closed during a statement", function* () {
  const filename = join(yield* makeTempFolder, "links.db");
  const scope = yield* Scope.make();
  const context = yield* Layer.buildWithScope(layerSqlite({ filename }), scope);
  const sql = Context.get(context, SqlClient.SqlClient);
  yield* sql`CREATE TABLE counters (name TEXT, count INTEGER)`;
  const fiber = yield* openBulk(sql);
  yield* Scope.close(scope, Exit.void);
  const error = yield* Effect.flip(Fiber.join(fiber));
  expect(error.message).toBe("Cannot use the database: it is closed");
  expect(existsSync(`${filename}-wal`)).toBe(false);
});

test("a bulk transaction fails if its thread cannot open the database, and the next one tries again", function* ({
  sql,
  filename,
}) {
  rmSync(dirname(filename), { recursive: true });
  for (let attempt = 1; attempt <= 2; attempt++) {
    const error = yield* Effect.flip(bulk(sql, add(sql, "a")));
    expect(error.message).toBe("Cannot open the database file");
  }
});
