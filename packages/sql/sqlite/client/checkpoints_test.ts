import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { TestClock } from "effect/testing";
import { add, testDatabase } from "../test_database.ts";
import { makeTempFolder } from "../test_folder.ts";
import { layerSqlite } from "./sql_client.ts";

testDatabase("a thread copies committed pages into the file", function* ({ sql, filename }) {
  yield* sql.withTransaction(add(sql, "committed"));
  const isCopied = Effect.sync(() => readFileSync(filename).includes("committed"));
  expect(yield* isCopied).toBe(false);
  yield* Effect.repeat(Effect.andThen(TestClock.adjust("100 millis"), isCopied), { until: Boolean });
});

testDatabase(
  "the log stays small while commits follow each other without a pause",
  function* ({ sql, filename }) {
    for (let count = 0; count < 100; count++) {
      yield* sql.withTransaction(add(sql, `${count}`.padEnd(400_000, "x")));
    }
    expect(statSync(`${filename}-wal`).size).toBeLessThan(20_000_000);
  },
);

test("a closed database is one file", function* () {
  const filename = join(yield* makeTempFolder, "links.db");
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* sql.withTransaction(sql`CREATE TABLE counters (name TEXT)`);
    yield* TestClock.adjust("100 millis");
  }).pipe(Effect.provide(layerSqlite({ filename })));
  expect(existsSync(`${filename}-wal`)).toBe(false);
});
