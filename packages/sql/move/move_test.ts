/** Moves between an embedded storage and an engine without SQL. */
import { DatabaseSync } from "node:sqlite";
import { movedTables, moveRows } from "@accountlink/core/storage";
import { type Kv, layer as layerKv, memoryKv, minChanges, openRows as openKvRows } from "@accountlink/kv";
import { StorageMemory } from "@accountlink/memory";
import { randomRuns } from "@accountlink/test-servers";
import { test } from "@accountlink/test-servers/effect";
import { storageMoveSuite } from "@accountlink/testing/conformance";
import { Effect, Layer } from "effect";
import * as vitest from "vitest";
import { StorageSql } from "../mod.ts";
import { makeTempFolder } from "../sqlite/test_folder.ts";
import { fill, sampleTables } from "./test_rows.ts";

const { expect } = vitest;

const unseen = () => Effect.void;

const openRows = (folder: string, role: "source" | "target" = "source") =>
  Effect.flatMap(StorageSql.openEmbedded({ folder }), (sql) => StorageSql.openRows(sql, role));

type Opened = ReturnType<typeof openRows> | ReturnType<typeof openKvRows>;

const move = (source: Opened, target: Opened) =>
  Effect.scoped(
    Effect.gen(function* () {
      return yield* moveRows(yield* source, yield* target, unseen);
    }),
  );

const moveIn = (folder: string, kv: Kv) => move(openRows(folder), openKvRows(kv, "target"));

const moveOut = (kv: Kv, folder: string) => move(openKvRows(kv, "source"), openRows(folder, "target"));

const moveKv = (from: Kv, to: Kv) => move(openKvRows(from, "source"), openKvRows(to, "target"));

const databaseIn = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(StorageSql.databaseFile(folder))),
    (db) => Effect.sync(() => db.close()),
  );

/** Tables that no move copies. */
const leftOut = new Set(["schema_migrations", "storage_place", "place_users", "panels", "erasures"]);

const tablesOf = (db: DatabaseSync) =>
  Object.fromEntries(
    movedTables.map((name) => [
      name,
      db
        .prepare(`SELECT * FROM ${name}`)
        .all()
        .map((row) => JSON.stringify(row))
        .toSorted(),
    ]),
  );

test("every column of every table is moved to an engine, to another, and back", function* () {
  const [from, to] = [yield* makeTempFolder, yield* makeTempFolder];
  yield* StorageSql.migrateEmbedded({ folder: from });
  const source = yield* databaseIn(from);
  const all = source
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !leftOut.has(name));
  expect(all.toSorted()).toEqual(sampleTables.toSorted());
  expect(movedTables.toSorted()).toEqual(sampleTables.toSorted());
  fill(source);
  const before = tablesOf(source);
  const [first, kv] = [memoryKv(), memoryKv()];
  expect((yield* moveIn(from, first)).different).toEqual([]);
  expect((yield* moveKv(first, kv)).different).toEqual([]);
  const moved = yield* moveOut(kv, to);
  expect(moved.different).toEqual([]);
  expect(moved.tables).toEqual(
    Object.fromEntries(Object.entries(before).map(([name, rows]) => [name, rows.length])),
  );
  expect(tablesOf(yield* databaseIn(to))).toEqual(before);
});

/** An engine with the smallest commits that fails after some, and those that it made. */
const failingAfter = (kv: Kv, commits: number): Kv => {
  let left = commits;
  return {
    ...kv,
    maxChanges: minChanges,
    commit: (checks, changes) => (left-- > 0 ? kv.commit(checks, changes) : Effect.die(new Error("killed"))),
  };
};

test("a move that was interrupted goes on after the record where it stopped", function* () {
  const [from, to] = [yield* makeTempFolder, yield* makeTempFolder];
  yield* StorageSql.migrateEmbedded({ folder: from });
  const source = yield* databaseIn(from);
  fill(source);
  // Members who have many problems are the rows with the most changes.
  source.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1001 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1050)
    INSERT INTO role_problems (pid, guild_id, chat_id, role_id, reason, at)
    SELECT pid, guild_id, '10' || member.n, '80' || role.n, 'role_missing', 1
    FROM role_plans, numbers AS member, numbers AS role WHERE member.n <= 1004
  `);
  const kv = memoryKv();
  let attempts = 0;
  for (let isDone = false; !isDone; attempts++) {
    const attempt = yield* Effect.exit(moveIn(from, failingAfter(kv, 7)));
    isDone = attempt._tag === "Success";
  }
  expect(attempts).toBeGreaterThan(5);
  expect((yield* moveOut(kv, to)).different).toEqual([]);
  expect(tablesOf(yield* databaseIn(to))).toEqual(tablesOf(source));
  expect(yield* Effect.flip(moveOut(kv, to))).toMatchObject({
    reason: "the target holds data, expected an empty one",
  });
});

test("a move writes nothing more once another one into its target has ended", function* () {
  const from = yield* makeTempFolder;
  yield* StorageSql.migrateEmbedded({ folder: from });
  fill(yield* databaseIn(from));
  const whole = memoryKv();
  yield* moveIn(from, whole);
  const mark = "moving_rows ";
  for (const start of [(to: Kv) => moveIn(from, to), (to: Kv) => moveKv(whole, to)]) {
    const target = memoryKv();
    let commits = 0;
    const overtaken: Kv = {
      ...target,
      maxChanges: minChanges,
      commit: (checks, changes) =>
        Effect.andThen(
          ++commits === 4 ? target.commit([], [{ key: mark, value: null }]) : Effect.void,
          target.commit(checks, changes),
        ),
    };
    expect(yield* Effect.flip(start(overtaken))).toMatchObject({
      reason: "another move into the target runs or has ended",
    });
    expect(yield* target.get([mark])).toEqual([null]);
  }
});

test("a move takes entries that earlier builds moved to an account that is not there", function* () {
  const from = yield* makeTempFolder;
  yield* StorageSql.migrateEmbedded({ folder: from });
  const source = yield* databaseIn(from);
  fill(source);
  source.exec(`
    INSERT INTO journal (place, sequence, at, action, actor_type, actor_id, details)
      VALUES ('account gone', 1, 1, 'account.updated', 'operator', 'cli', '{}');
    DELETE FROM schema_migrations WHERE migration_id >= 55`);
  yield* StorageSql.migrateEmbedded({ folder: from });
  expect((yield* moveIn(from, memoryKv())).different).toEqual([]);
});

test("a move waits for the end of erasures", function* () {
  const from = yield* makeTempFolder;
  yield* StorageSql.migrateEmbedded({ folder: from });
  const source = yield* databaseIn(from);
  fill(source);
  source.exec("INSERT INTO erasures VALUES ('100009', 'erased', 'operator', 'cli', NULL, NULL, 1)");
  expect(yield* Effect.flip(moveIn(from, memoryKv()))).toMatchObject({
    reason: expect.stringContaining("erasure") as unknown,
  });
});

test("a move names the tables that changed meanwhile", function* () {
  const from = yield* makeTempFolder;
  yield* StorageSql.migrateEmbedded({ folder: from });
  const source = yield* databaseIn(from);
  fill(source);
  const [rows, target] = [yield* openRows(from), yield* openKvRows(memoryKv(), "target")];
  const changeAtEnd = (done: number, total: number) =>
    // Reads of one turn share a snapshot, so the change is made at the end of a turn.
    Effect.promise(async () => {
      if (done === total) source.exec("UPDATE links SET game_id = '99'; DELETE FROM reminders");
      await new Promise(setImmediate);
    });
  expect((yield* moveRows(rows, target, changeAtEnd)).different).toEqual([
    { table: "links", source: 2, target: 2 },
    { table: "reminders", source: 0, target: 1 },
  ]);
});

const storages = Effect.gen(function* () {
  const [first, last] = [yield* makeTempFolder, yield* makeTempFolder];
  const kv = memoryKv();
  const after = <A, E>(moved: Effect.Effect<A, E>, layer: typeof StorageMemory.layer) =>
    Layer.unwrap(Effect.as(Effect.orDie(moved), layer));
  return [
    StorageSql.layerEmbedded({ folder: first }),
    after(moveIn(first, kv), layerKv(Effect.succeed(kv))),
    after(moveOut(kv, last), Layer.orDie(StorageSql.layerEmbedded({ folder: last }))),
  ];
});

storageMoveSuite({
  name: "Embedded to an engine and back",
  storages,
  model: StorageMemory.layer,
  ...randomRuns(2, 600),
  test: vitest,
});
