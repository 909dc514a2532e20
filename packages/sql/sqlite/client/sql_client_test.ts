import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Context, Effect, Exit, Layer, Scope, Stream } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { makeTempFolder } from "../test_folder.ts";
import { layerSqlite } from "./sql_client.ts";

type Row = Record<string, unknown>;

const reverse = <A>(rows: ReadonlyArray<A>) => rows.toReversed();

const inMemory = layerSqlite({ filename: ":memory:" });

const test = testWith(inMemory);

test("the client keeps answered writes through a crash of the machine, and enforces foreign keys", function* () {
  const filename = join(yield* makeTempFolder, "links.db");
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    expect(yield* sql`PRAGMA journal_mode`.values).toEqual([["wal"]]);
    expect(yield* sql`PRAGMA synchronous`.values).toEqual([[2]]);
    expect(yield* sql`PRAGMA fullfsync`.values).toEqual([[1]]);
    expect(yield* sql`PRAGMA foreign_keys`.values).toEqual([[1]]);
  }).pipe(Effect.provide(layerSqlite({ filename })));
});

test("the client closes the database file when the scope of the client closes", function* () {
  const filename = join(yield* makeTempFolder, "links.db");
  const scope = yield* Scope.make();
  const context = yield* Layer.buildWithScope(layerSqlite({ filename }), scope);
  const sql = Context.get(context, SqlClient.SqlClient);
  yield* sql`CREATE TABLE things (id INTEGER)`;
  expect(existsSync(`${filename}-wal`)).toBe(true);

  yield* Scope.close(scope, Exit.void);

  expect(existsSync(`${filename}-wal`)).toBe(false);
  for (const use of [sql`SELECT 1`, sql.withTransaction(sql`SELECT 1`)]) {
    const error = yield* Effect.flip(use);
    expect(error.reason._tag).toBe("ConnectionError");
    expect(error.message).toBe("Cannot use the database: it is closed");
  }
});

test.each([
  ["a folder that does not exist", (folder: string) => join(folder, "none", "links.db"), "ConnectionError"],
  [
    "a file that is not a database",
    (folder: string) => {
      writeFileSync(join(folder, "text"), "no database ".repeat(100));
      return join(folder, "text");
    },
    "UnknownError",
  ],
  // Like some network file systems, SQLite's VFS `unix-dotfile` cannot share memory between processes.
  [
    "a file system without shared memory",
    (folder: string) => `file:${join(folder, "links.db")}?vfs=unix-dotfile`,
    "UnknownError",
  ],
] as const)("the client refuses %s", function* ([_, filename, reason]) {
  const folder = yield* makeTempFolder;
  const error = yield* Effect.flip(Layer.build(layerSqlite({ filename: filename(folder) })));
  expect(error.reason._tag).toBe(reason);
  expect(error.message).toMatch(/^Cannot /);
  expect(error.message).not.toContain(folder);
});

test("statements return rows, values and changes", function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)`;
  const rows: [Row, Row] = [
    { id: 1, name: "a" },
    { id: 2, name: "b" },
  ];
  expect(yield* sql`INSERT INTO things ${sql.insert(rows)}`.raw).toEqual({
    changes: 2,
    lastInsertRowid: 2,
  });
  expect(yield* sql`SELECT * FROM things`).toEqual(rows);
  expect(yield* sql`SELECT * FROM things`.values).toEqual([
    [1, "a"],
    [2, "b"],
  ]);
  expect(yield* sql`SELECT * FROM things WHERE ${sql.in("id", [2, 3])}`.unprepared).toEqual([rows[1]]);
  expect(yield* sql`SELECT name FROM things`.valuesUnprepared).toEqual([["a"], ["b"]]);
  expect(yield* sql`DELETE FROM things WHERE id = ${2} RETURNING name`).toEqual([{ name: "b" }]);
});

test("the client refuses to stream", function* () {
  const sql = yield* SqlClient.SqlClient;
  const error = yield* Effect.flip(Stream.runDrain(sql`SELECT 1`.stream));
  expect(error.message).toBe("Cannot stream rows: it would keep the connection busy, expected pages by key");
  expect(error.isRetryable).toBe(false);
});

test("a parameter that cannot be bound is a defect", function* () {
  const sql = yield* SqlClient.SqlClient;
  const exit = yield* Effect.exit(sql`SELECT ${new Date()}`);
  expect(Exit.hasDies(exit)).toBe(true);
});

test("the service Connection runs SQL text with parameters", function* () {
  const connection = yield* SqlConnection.Connection;
  const sql = "SELECT column1 AS n FROM (VALUES (?), (?))";
  expect(yield* connection.execute(sql, [1, 2], undefined)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(yield* connection.execute(sql, [1, 2], reverse)).toEqual([{ n: 2 }, { n: 1 }]);
});

const schema = [
  `CREATE TABLE owners (name TEXT PRIMARY KEY)`,
  `CREATE TABLE things (
      id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT CHECK (b <> 'hidden'), owner TEXT REFERENCES owners (name), n INTEGER,
      UNIQUE (a, b)
    ) STRICT`,
  `INSERT INTO things (id, a, b) VALUES (1, 'hidden', 'b')`,
];

test.each([
  ["INSERT INTO things (a, b) VALUES (?, 'b')", "UniqueViolation", false],
  ["INSERT INTO things (id, a) VALUES (1, ?)", "UniqueViolation", false],
  ["INSERT INTO things (a) VALUES (nullif(?, 'hidden'))", "ConstraintError", false],
  ["INSERT INTO things (a, b) VALUES ('a', ?)", "ConstraintError", false],
  ["INSERT INTO things (a, owner) VALUES ('a', ?)", "ConstraintError", false],
  ["INSERT INTO things (a, n) VALUES ('a', ?)", "ConstraintError", false],
  ["SELECT ? FROM nothing", "SqlSyntaxError", false],
  ["SELEKT ?", "SqlSyntaxError", false],
  ["INSERT INTO things (a) VALUES (? || hex(randomblob(100000)))", "ConnectionError", true],
] as const)("the statement %s fails with %s", function* ([text, reason, isRetryable]) {
  const sql = yield* SqlClient.SqlClient;
  for (const statement of schema) yield* sql.unsafe(statement);
  // Simulates an almost full disk.
  yield* sql`PRAGMA max_page_count = 20`;
  const error = yield* Effect.flip(sql.unsafe(text, ["hidden"]));
  expect(error.reason._tag).toBe(reason);
  expect(error.isRetryable).toBe(isRetryable);
  expect(error.message).toMatch(/^Cannot [a-z]/);
  expect(error.message).not.toMatch(/things|hidden/);
  expect(error.reason.cause).toMatchObject({ code: "ERR_SQLITE_ERROR" });
});

test("a write to a read-only database fails with AuthorizationError", function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`PRAGMA query_only = ON`;
  const error = yield* Effect.flip(sql`CREATE TABLE things (id INTEGER)`);
  expect(error.reason._tag).toBe("AuthorizationError");
});
