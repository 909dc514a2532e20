import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { compileCache } from "@accountlink/test-servers";
import { expect, it, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { DatabaseUnusable } from "./database_unusable.ts";
import { migrate, migrations, newestMigration, runMigrations } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";

const empty = Layer.fresh(layerSqlite({ filename: ":memory:" }));
const test = testWith(empty);

const schema = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT type, name, sql FROM sqlite_schema ORDER BY type, name`,
);

const names = Object.keys(migrations).map((key) => key.replace(/^\d+_/, ""));

it("migrations are numbered from 48 without a gap", () => {
  const numbers = Object.keys(migrations).map((key) => Number.parseInt(key, 10));
  expect(numbers).toEqual(numbers.map((_, i) => i + 48));
});

test("only pending migrations run on a database with data", function* () {
  const sql = yield* SqlClient.SqlClient;
  expect(yield* migrate).toEqual(names);
  expect(yield* migrate).toEqual([]);
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  const addColumn = Effect.asVoid(sql`ALTER TABLE accounts ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'`);
  const next = { ...migrations, "0999_colours": addColumn };
  expect(yield* runMigrations(next)).toEqual(["colours"]);
  expect(yield* runMigrations(next)).toEqual([]);
  expect(yield* sql`SELECT name, colour FROM accounts`).toEqual([{ name: "acme", colour: "grey" }]);
});

test("a database without all steps before the first release is refused, named the commit to go through, and not changed", function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* runMigrations({ "0047_undone_imports": createTable("link_imports") });
  const before = yield* schema;
  const { message } = new DatabaseUnusable({ path: "a.db", cause: yield* Effect.flip(migrate) });
  expect(message).toBe(
    'Cannot use database "a.db": its schema is version 47, expected 48 or later: start commit 5fc56f13 of accountlink on it first',
  );
  expect(yield* schema).toEqual(before);
  expect(yield* sql`SELECT migration_id FROM schema_migrations`).toEqual([{ migration_id: 47 }]);
});

test("a database of a newer release is refused and not changed", function* () {
  yield* runMigrations({ ...migrations, "0999_later": createTable("later") });
  const before = yield* schema;

  const error = yield* Effect.flip(migrate);

  expect(error).toMatchObject({ _tag: "DatabaseTooNew", version: 999, known: newestMigration });
  expect(error.message).toBe(
    `Cannot use the database: its schema is version 999, expected ${newestMigration} or lower`,
  );
  expect(yield* schema).toEqual(before);
});

test("all migrations run, or none", function* () {
  yield* migrate;
  const before = yield* schema;
  const broken = Effect.andThen(createTable("half"), createTable("links"));

  const error = yield* Effect.flip(
    runMigrations({ ...migrations, "0998_good": createTable("good"), "0999_broken": broken }),
  );

  expect(error).toMatchObject({ _tag: "MigrationError", kind: "Failed" });
  expect(yield* schema).toEqual(before);
  expect(yield* migrate).toEqual([]);
});

test("each migration runs once when several processes start together", function* () {
  const folder = yield* makeTempFolder;
  const answers = yield* Effect.promise(() =>
    Promise.all([migrateElsewhere(folder), migrateElsewhere(folder)]),
  );
  expect(answers.toSorted()).toEqual(["", names.join()]);
});

const createTable = (name: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`CREATE TABLE ${sql(name)} (id INTEGER)`));

/** Migrates in another process, and returns the names of the migrations that it ran. */
const migrateElsewhere = async (folder: string): Promise<string> => {
  const script = `
    import { Effect } from "effect";
    import { migrateEmbedded } from ${JSON.stringify(import.meta.resolve("./sqlite/embedded.ts"))};
    const ran = await Effect.runPromise(migrateEmbedded({ folder: process.argv[1], exclusive: false }));
    process.stdout.write(ran.join());
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script, folder], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...compileCache },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(code).toBe(0);
  return output;
};
