import { once } from "node:events";
import { text } from "node:stream/consumers";
import { spawnScript, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, it, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { DatabaseUnusable } from "./database_unusable.ts";
import { migrate, migrations, newestMigration, runMigrations } from "./migrations.ts";
import { testOnDatabase } from "./postgres/test_postgres.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";
import { makeStep20, stepsBefore } from "./test_earlier_steps.ts";

const empty = Layer.fresh(layerSqlite({ filename: ":memory:" }));
const test = testWith(empty);
const missing = await whyNoPostgresDatabase();

const schema = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT type, name, sql FROM sqlite_schema ORDER BY type, name`,
);

const names = Object.keys(migrations).map((key) => key.replace(/^\d+_/, ""));

it("migrations are numbered from 21 without a gap", () => {
  const numbers = Object.keys(migrations).map((key) => Number.parseInt(key, 10));
  expect(numbers).toEqual(numbers.map((_, i) => i + 21));
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

test("a database of the 20 steps before the first release gets the same schema, and keeps its rows", function* () {
  const sql = yield* SqlClient.SqlClient;
  const first = yield* Effect.provide(Effect.andThen(migrate, schema), empty, { local: true });
  yield* makeStep20;
  yield* sql`INSERT INTO idempotency_keys (id, fingerprint, answer, chat_ids, ends_at) VALUES ('i', 'f', '{}', '[]', 9)`;
  expect(yield* migrate).toEqual(names);
  expect(yield* schema).toEqual(first);
  expect(yield* sql`SELECT id, answer, ends_at FROM idempotency_keys`).toEqual([
    { id: "i", answer: "{}", ends_at: 9 },
  ]);
});

test.each([8, 19])(
  "a database with %i of the 20 earlier steps is refused and not changed, and named the commit to go through",
  function* (steps) {
    const sql = yield* SqlClient.SqlClient;
    yield* makeStep20;
    yield* sql`DELETE FROM schema_migrations WHERE migration_id > ${steps}`;
    const before = yield* schema;
    const cause = yield* Effect.flip(migrate);
    expect(cause).toMatchObject({ _tag: "MigrationError", kind: "Failed" });
    expect(new DatabaseUnusable({ path: "a.db", cause }).message).toBe(
      `Cannot use database "a.db": its schema is version ${steps}, expected 20 or later: start commit b6bba7dc of accountlink on it first`,
    );
    expect(yield* schema).toEqual(before);
  },
);

const carried = { action: "link.set", actor_id: null, event_id: null, chat_id: null };

/** Migrates entries and events of before the journal. */
const journalTakesOver = Effect.fnUntraced(function* (position: "position" | "sequence") {
  const sql = yield* SqlClient.SqlClient;
  yield* makeStep20;
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  yield* sql`INSERT INTO scopes (pid, account) VALUES ('pid_1', 'acme')`;
  yield* sql`INSERT INTO feed_starts (pid, position) VALUES ('pid_1', 6)`;
  const entry = { at: 5, account: "acme", actor_type: "operator", actor_id: "ada", details: "{}" };
  yield* sql`INSERT INTO audit_log ${sql.insert([
    { ...entry, pid: "pid_1", action: "link.set", chat_id: "100001" },
    { ...entry, pid: null, action: "account.updated", chat_id: null },
  ])}`;
  yield* sql`
    INSERT INTO events (pid, position, id, type, at, data)
    VALUES ('pid_1', 7, 'evt_1', 'link.set', 5, '{"chatId":"100001"}'),
      ('pid_1', 8, 'evt_2', 'link.set', 5, '{"chatId":"[erased]"}')`;
  yield* runMigrations(stepsBefore("0026"));
  yield* sql`INSERT INTO block_removals (pid, game_id, entry) VALUES ('pid_1', '8', 1)`;
  if (position === "position") yield* copyCutOff;
  yield* migrate;
  expect(
    yield* sql`
      SELECT place, ${sql(position)} AS position, action, actor_id, event_id, chat_id FROM journal
      ORDER BY place, ${sql(position)}`,
  ).toEqual([
    { ...carried, place: "account acme", position: 10, action: "account.updated", actor_id: "ada" },
    { ...carried, place: "pid_1", position: 7, event_id: "evt_1", chat_id: "100001" },
    { ...carried, place: "pid_1", position: 8, event_id: "evt_2" },
    { ...carried, place: "pid_1", position: 9, actor_id: "ada", chat_id: "100001" },
  ]);
  expect(yield* sql`SELECT entry FROM block_removals`).toEqual([{ entry: 9 }]);
});

/** Earlier builds copied rows before the step, and could be cut off. */
const copyCutOff = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  for (const table of ["journal", "journal_copy", "journal_copy_changes"])
    yield* sql`CREATE TABLE ${sql(table)} (place TEXT)`;
  yield* makeFunction("journal_copy_changed");
  yield* sql`
    CREATE TRIGGER journal_copy AFTER UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION journal_copy_changed()`;
});

const makeFunction = (name: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      CREATE FUNCTION ${sql(name)}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`,
  );

test("the journal takes over entries and events, and a feed goes on from its position", () =>
  journalTakesOver("sequence"));

describe.skipIf(missing !== null)(`migrations of Postgres ${missing ?? ""}`, () => {
  testOnDatabase()(
    "the journal takes over entries and events, also after a copy that was cut off",
    function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* journalTakesOver("position");
      expect(
        yield* sql`
          INSERT INTO journal (place, at, action, details) VALUES ('pid_1', 1, 'link.set', '{}') RETURNING sequence`,
      ).toEqual([{ sequence: 11 }]);
      const made = sql`SELECT proname FROM pg_proc WHERE proname ~ '^(earlier|journal)_'`;
      expect(yield* made).toEqual([]);
    },
  );

  testOnDatabase()("the views of earlier builds go, and those of other programs stay", function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* runMigrations(stepsBefore("0052"));
    yield* sql`CREATE VIEW events AS SELECT place FROM journal`;
    yield* sql`CREATE VIEW audit_log AS SELECT place FROM journal`;
    const views = sql`SELECT viewname FROM pg_views WHERE schemaname = current_schema() ORDER BY viewname`;
    yield* migrate;
    expect(yield* views).toHaveLength(2);

    for (const [name, change, view] of [
      ["earlier_event_inserted", "INSERT", "events"],
      ["earlier_event_updated", "UPDATE", "events"],
      ["earlier_entry_inserted", "INSERT", "audit_log"],
      ["earlier_entry_updated", "UPDATE", "audit_log"],
    ] as const) {
      yield* makeFunction(name);
      yield* sql.unsafe(
        `CREATE TRIGGER ${name} INSTEAD OF ${change} ON ${view} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
      );
    }
    yield* sql`DELETE FROM schema_migrations WHERE migration_id >= 52`;
    yield* migrate;
    expect(yield* views).toEqual([]);
    expect(yield* sql`SELECT proname FROM pg_proc WHERE proname LIKE 'earlier_%'`).toEqual([]);
  });
});

test("communities take over the homes, logs and panels of role plans", function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* runMigrations({ "0021_initial": migrations["0021_initial"] ?? Effect.void });
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  yield* sql`INSERT INTO scopes (pid, account) VALUES ('p', 'acme')`;
  const plan = { pid: "p", rules: "[]", position: 0, revision: 1, sweep_done: 0 };
  yield* sql`INSERT INTO role_plans ${sql.insert([
    { ...plan, guild_id: "1", state: "on", sweep_started_at: 7, paused_at: null, log_channel_id: "70" },
    { ...plan, guild_id: "2", state: "paused", sweep_started_at: 7, paused_at: 8, log_channel_id: null },
    {
      ...plan,
      guild_id: "3",
      state: "paused",
      sweep_started_at: null,
      paused_at: null,
      log_channel_id: null,
    },
  ])}`;
  yield* sql`
    INSERT INTO panels (pid, guild_id, channel_id, message_id)
    VALUES ('p', '1', '70', '71'), ('p', '1', '72', '73'), ('p', '4', '74', '75')`;
  yield* migrate;
  const panelOf = (channelId: string, messageId: string) => ({ channelId, messageId, text: null });
  const json = (panels: ReadonlyArray<object>) => JSON.stringify(panels);
  const none = { home_since: null, paused_at: null, settings: "{}", panels: "[]" };
  const both = json([panelOf("70", "71"), panelOf("72", "73")]);
  expect(
    yield* sql`
    SELECT guild_id, home_since, paused_at, settings, panels FROM communities ORDER BY guild_id`,
  ).toEqual([
    { ...none, guild_id: "1", home_since: 7, settings: '{"logChannelId":"70"}', panels: both },
    { ...none, guild_id: "2", home_since: 8, paused_at: 8 },
    { ...none, guild_id: "3" },
    { ...none, guild_id: "4", panels: json([panelOf("74", "75")]) },
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
  const child = spawnScript(import.meta.dirname, script, [folder]);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(code).toBe(0);
  return output;
};
