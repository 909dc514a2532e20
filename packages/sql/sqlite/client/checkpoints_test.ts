import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { spawnScript } from "@accountlink/test-servers";
import { expect, test as plainTest } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { TestClock } from "effect/testing";
import { add, test } from "../test_database.ts";
import { makeTempFolder } from "../test_folder.ts";
import { layerSqlite } from "./sql_client.ts";

test("a thread copies committed pages into the file", function* ({ sql, filename }) {
  yield* sql.withTransaction(add(sql, "committed"));
  const isCopied = Effect.sync(() => readFileSync(filename).includes("committed"));
  expect(yield* isCopied).toBe(false);
  yield* Effect.repeat(Effect.andThen(TestClock.adjust("100 millis"), isCopied), { until: Boolean });
});

test("the log stays small while commits follow each other without a pause", function* ({ sql, filename }) {
  for (let count = 0; count < 100; count++) {
    yield* sql.withTransaction(add(sql, `${count}`.padEnd(400_000, "x")));
  }
  expect(statSync(`${filename}-wal`).size).toBeLessThan(20_000_000);
});

plainTest("a closed database is one file", function* () {
  const filename = join(yield* makeTempFolder, "links.db");
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* sql.withTransaction(sql`CREATE TABLE counters (name TEXT)`);
    yield* TestClock.adjust("100 millis");
  }).pipe(Effect.provide(layerSqlite({ filename })));
  expect(existsSync(`${filename}-wal`)).toBe(false);
});

plainTest("a process ends although it does not close the database", function* () {
  const filename = join(yield* makeTempFolder, "links.db");
  const script = `
    import { readFileSync } from "node:fs";
    import { setImmediate } from "node:timers/promises";
    import { ManagedRuntime } from "effect";
    import { SqlClient } from "effect/sql";
    import { layerSqlite } from ${JSON.stringify(import.meta.resolve("./sql_client.ts"))};
    const filename = process.argv[1];
    const runtime = ManagedRuntime.make(layerSqlite({ filename }));
    const sql = await runtime.runPromise(SqlClient.SqlClient);
    await runtime.runPromise(sql.withTransaction(sql\`CREATE TABLE committed (name TEXT)\`));
    while (!readFileSync(filename).includes("committed")) await setImmediate();
  `;
  const child = spawnScript(import.meta.dirname, script, [filename]);
  expect(yield* Effect.promise(() => once(child, "exit"))).toEqual([0, null]);
});
