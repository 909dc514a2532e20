import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, it, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { TestClock } from "effect/testing";
import { migrate, migrations, newestMigration, runMigrations } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";

const test = testWith(Layer.fresh(layerSqlite({ filename: ":memory:" })));

const schema = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT type, name, sql FROM sqlite_schema ORDER BY type, name`,
);

const names = Object.keys(migrations).map((key) => key.replace(/^\d+_/, ""));

/** Runs the migrations before the named one. */
const migrateUntil = (name: string) =>
  runMigrations(Object.fromEntries(Object.entries(migrations).filter(([key]) => key < name)));

it("migrations are numbered from 1 without a gap", () => {
  const numbers = Object.keys(migrations).map((key) => Number.parseInt(key, 10));
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
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

test("a migration makes the chat user of an existing account its owner", function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* migrateUntil("0002_members");
  yield* sql`INSERT INTO accounts (name, chat_id, tier) VALUES ('acme', '100001', 'free'), ('bare', NULL, 'free')`;
  yield* migrate;
  expect(yield* sql`SELECT account, chat_id, role FROM members`).toEqual([
    { account: "acme", chat_id: "100001", role: "owner" },
  ]);
});

test("members of an earlier release stay members if they used the account, and are invited otherwise", function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* migrateUntil("0008_invitations");
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  yield* sql`
          INSERT INTO members (account, chat_id, role, since, chosen_at) VALUES
            ('acme', '100001', 'owner', 1, 2), ('acme', '100002', 'admin', 1, NULL),
            ('acme', '100003', 'admin', 1, NULL), ('acme', '100004', 'admin', 1, NULL)`;
  yield* sql`
          INSERT INTO site_sign_ins (id, site, chat_id, account, created_at, expires_at)
          VALUES ('in', 'dashboard', '100002', 'acme', 5, 9)`;
  yield* sql`
          INSERT INTO audit_log (sequence, at, account, actor_type, actor_id, action, details, member)
          VALUES (1, 5, 'acme', 'account', 'acme', 'key.created', '{}', '100003')`;
  yield* TestClock.setTime(77);
  yield* migrate;
  expect(yield* sql`SELECT chat_id, since, chosen_at FROM members ORDER BY chat_id`).toEqual([
    { chat_id: "100001", since: 1, chosen_at: 2 },
    { chat_id: "100002", since: 1, chosen_at: 1 },
    { chat_id: "100003", since: 1, chosen_at: 1 },
    { chat_id: "100004", since: 77, chosen_at: null },
  ]);
});

test("of an earlier release's accounts without an owner or admin, those that nobody left are the operator's", function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* migrateUntil("0010_operator_accounts");
  yield* sql`
    INSERT INTO accounts (name, chat_id, tier) VALUES
      ('acme', NULL, 'free'), ('moderated', NULL, 'free'), ('chat:100001', '100001', 'free'),
      ('erased:x', NULL, 'free'), ('left', NULL, 'free'), ('run', NULL, 'free')`;
  yield* sql`
    INSERT INTO members (account, chat_id, role, since, chosen_at) VALUES
      ('moderated', '100002', 'moderator', 1, 1), ('run', '100003', 'admin', 1, 1)`;
  yield* sql`
    INSERT INTO audit_log (sequence, at, account, actor_type, actor_id, action, details) VALUES
      (1, 5, 'left', 'operator', 'o', 'member.added', '{"chatId":"100004","role":"admin"}'),
      (2, 5, 'moderated', 'operator', 'o', 'member.added', '{"chatId":"100002","role":"moderator"}')`;
  yield* migrate;
  expect(yield* sql`SELECT name FROM accounts WHERE operator = 1 ORDER BY name`).toEqual([
    { name: "acme" },
    { name: "moderated" },
  ]);
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
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(code).toBe(0);
  return output;
};
