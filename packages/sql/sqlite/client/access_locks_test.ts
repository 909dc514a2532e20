import { once } from "node:events";
import { spawnScript } from "@accountlink/test-servers";
import { expect } from "@accountlink/test-servers/effect";
import { Effect, Fiber } from "effect";
import { SqlClient } from "effect/sql";
import { add, names, settle, test } from "../test_database.ts";

test.each([
  ["statement", (sql: SqlClient.SqlClient) => add(sql, "late")],
  ["transaction", (sql: SqlClient.SqlClient) => sql.withTransaction(add(sql, "late"))],
] as const)("the lock of another process delays a %s, and no reads", function* (fixture, [_, write]) {
  const { sql, other } = fixture;
  other.exec("BEGIN IMMEDIATE; INSERT INTO counters VALUES ('early', 1)");
  const writer = yield* Effect.forkChild(write(sql));
  yield* settle;
  expect(yield* sql`SELECT name FROM counters`.values).toEqual([]);
  expect(writer.pollUnsafe()).toBeUndefined();
  other.exec("COMMIT");
  yield* Fiber.join(writer);
  expect(names(fixture)).toEqual(["early", "late"]);
});

test.each([
  ["statement", (sql: SqlClient.SqlClient) => add(sql, "never")],
  ["transaction", (sql: SqlClient.SqlClient) => sql.withTransaction(add(sql, "never"))],
] as const)(
  "a %s fails after the timeout for locks, and the next one succeeds",
  function* (fixture, [_, write]) {
    const { sql, other } = fixture;
    other.exec("BEGIN IMMEDIATE");
    const error = yield* Effect.flip(write(sql));
    expect(error.reason._tag).toBe("LockTimeoutError");
    expect(error.isRetryable).toBe(true);
    other.exec("ROLLBACK");
    yield* add(sql, "next");
    expect(names(fixture)).toEqual(["next"]);
  },
  { busyTimeout: "30 millis" },
);

test(
  "20 transactions that wait behind each other for a lock fail together, after one timeout",
  function* ({ sql, other }) {
    other.exec("BEGIN IMMEDIATE");
    const begun = performance.now();
    const writes = Array.from({ length: 20 }, (_, count) =>
      Effect.flip(sql.withTransaction(add(sql, `never ${count}`))),
    );
    const errors = yield* Effect.all(writes, { concurrency: "unbounded" });
    expect(new Set(errors.map(({ reason }) => reason._tag))).toEqual(new Set(["LockTimeoutError"]));
    expect(performance.now() - begun).toBeLessThan(20 * 300);
    other.exec("ROLLBACK");
  },
  { busyTimeout: "300 millis" },
);

test("a transaction with a stale snapshot fails at once", function* ({ sql, other }) {
  const error = yield* sql`SELECT * FROM counters`.pipe(
    Effect.andThen(Effect.sync(() => other.exec("INSERT INTO counters VALUES ('early', 1)"))),
    Effect.andThen(add(sql, "never")),
    sql.withTransaction,
    Effect.provideService(SqlClient.BeginTransaction, "BEGIN DEFERRED"),
    Effect.flip,
  );
  expect(error.reason._tag).toBe("SerializationError");
  expect(error.isRetryable).toBe(true);
});

test("two processes that write concurrently take turns", function* ({ sql, filename }) {
  yield* add(sql, "shared", 0);
  const increments = 150;
  const script = `
          import { Effect } from "effect";
          import { SqlClient } from "effect/sql";
          import { layerSqlite } from ${JSON.stringify(import.meta.resolve("./sql_client.ts"))};
          await Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient;
            for (let n = 0; n < ${increments}; n++) {
              yield* sql.withTransaction(Effect.gen(function* () {
                const [row] = yield* sql\`SELECT count FROM counters\`;
                yield* Effect.yieldNow;
                yield* sql\`UPDATE counters SET count = \${row.count + 1}\`;
              }));
              yield* Effect.promise(() => new Promise(setImmediate));
            }
          }).pipe(Effect.provide(layerSqlite({ filename: process.argv[1] })), Effect.runPromise);
        `;
  const run = Effect.promise(() => once(spawnScript(import.meta.dirname, script, [filename]), "exit"));
  const exits = yield* Effect.all([run, run], { concurrency: "unbounded" });
  expect(exits).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(yield* sql`SELECT count FROM counters`.values).toEqual([[2 * increments]]);
});
