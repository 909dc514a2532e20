import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@effect/vitest";
import { Effect, Layer } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { expectSameSchema, names, steps } from "./migrations/test_migrating.ts";
import { migrate, migrations, runMigrations } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";

/** Runs a test on a new database. */
const onDatabase = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(effect, Layer.fresh(layerSqlite({ filename: ":memory:" })));

/** The whole schema. */
const schema = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT type, name, sql FROM sqlite_schema ORDER BY type, name`,
);

describe("migrate", () => {
  it("numbers its migrations from 1 without a gap", () => {
    const numbers = steps.map(([key]) => Number.parseInt(key, 10));
    expect(numbers).toEqual(steps.map((_, i) => i + 1));
  });

  it.effect("leads from every version to the newest schema", () =>
    Effect.gen(function* () {
      const reached = yield* expectSameSchema(onDatabase, schema);
      expect(reached.map((row) => row["name"])).toContain("links");
    }),
  );

  it.effect("counts old keys, except those with their own limits and those of a fixture", () =>
    onDatabase(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient;
        yield* runMigrations(Object.fromEntries(steps.slice(0, 1)));
        yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
        yield* sql`INSERT INTO scopes (pid, account) VALUES ('pid_1', 'acme')`;
        const made = ["normal ops", "partner ops", "staff ops", "normal fixture"];
        for (const [i, each] of made.entries()) {
          const [kind, creator] = each.split(" ");
          const details = JSON.stringify({ keyId: `Aa0Bb1Cc2Dd${i}`, status: "active" });
          yield* sql`
            INSERT INTO keys VALUES (${`Aa0Bb1Cc2Dd${i}`}, 'pid_1', ${each}, 'free', ${kind}, 'active', NULL, '{}', '[]',
              '[]', '[]', 1)`;
          yield* sql`
            INSERT INTO audit_log (at, account, actor_type, actor_id, action, details)
            VALUES (1, 'acme', 'operator', ${creator}, 'key.created', ${details})`;
        }
        yield* migrate;
        expect(yield* sql`SELECT name FROM keys WHERE counts = 1`).toEqual([{ name: "normal ops" }]);
      }),
    ),
  );

  it.effect("refuses a database of a newer release without changing it", () =>
    onDatabase(
      Effect.gen(function* () {
        yield* runMigrations({ ...migrations, "0999_of_tomorrow": createTable("tomorrow") });
        const before = yield* schema;

        const error = yield* Effect.flip(migrate);

        expect(error).toMatchObject({ _tag: "DatabaseTooNew", version: 999, known: steps.length });
        expect(error.message).toBe(
          `Cannot use the database: its schema is version 999, expected ${steps.length} or lower`,
        );
        expect(yield* schema).toEqual(before);
      }),
    ),
  );

  it.effect("runs all migrations or none", () =>
    onDatabase(
      Effect.gen(function* () {
        yield* migrate;
        const before = yield* schema;
        const broken = Effect.andThen(createTable("half"), createTable("links"));

        const error = yield* Effect.flip(
          runMigrations({ ...migrations, "0998_good": createTable("good"), "0999_broken": broken }),
        );

        expect(error).toMatchObject({ _tag: "MigrationError", kind: "Failed" });
        expect(yield* schema).toEqual(before);
        expect(yield* migrate).toEqual([]);
      }),
    ),
  );

  it.effect("runs each migration once when several processes start together", () =>
    Effect.gen(function* () {
      const folder = yield* makeTempFolder;
      const answers = yield* Effect.promise(() =>
        Promise.all([migrateElsewhere(folder), migrateElsewhere(folder)]),
      );
      expect(answers.toSorted()).toEqual(["", names.join()]);
    }),
  );
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
