import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test as plainTest } from "@accountlink/test-servers/effect";
import { Effect, type Scope } from "effect";
import { SqlClient, SqlConnection, type SqlError } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { layerSqlite, type SqliteOptions } from "./client/sql_client.ts";
import { makeTempFolder } from "./test_folder.ts";

/** For tests: a database with a table of counters, its client, and a connection that stands for another process. */
export interface Fixture {
  readonly filename: string;
  readonly sql: SqlClient.SqlClient;
  readonly connection: SqlConnection.Connection;
  readonly other: DatabaseSync;
}

type Step = Effect.Effect<unknown, unknown, Scope.Scope>;

type Body<Case> = (fixture: Fixture, given: Case) => Generator<Step, void, never>;

type Options = Omit<SqliteOptions, "filename">;

export const withDatabase = (body: (fixture: Fixture) => ReturnType<Body<never>>, options?: Options) =>
  Effect.gen(function* () {
    const filename = join(yield* makeTempFolder, "links.db");
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE TABLE counters (name TEXT PRIMARY KEY, count INTEGER NOT NULL)`;
      yield* sql`CREATE TABLE steps (
          counter TEXT REFERENCES counters (name) DEFERRABLE INITIALLY DEFERRED
        )`;
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(filename)),
        (db) => Effect.sync(() => db.close()),
      );
      const connection = yield* SqlConnection.Connection;
      yield* Effect.gen(() => body({ filename, sql, connection, other }));
    }).pipe(Effect.provide(layerSqlite({ filename, ...options })));
  });

const onDatabase =
  <Case>(run: (title: string, body: (given: Case) => Step) => void) =>
  (title: string, body: Body<Case>, options?: Options) =>
    run(title, (given) => withDatabase((fixture) => body(fixture, given), options));

export const test = Object.assign(onDatabase<unknown>(plainTest), {
  each: <Case>(cases: ReadonlyArray<Case>) => onDatabase(plainTest.each(cases)),
});

export type RunTransaction = <A, E>(
  sql: SqlClient.SqlClient,
  work: Effect.Effect<A, E>,
) => Effect.Effect<A, E | SqlError.SqlError>;

export const single: RunTransaction = (sql, work) => sql.withTransaction(work);

/** Runs a transaction over many rows. */
export const bulk: RunTransaction = (sql, work) => dialectOf(sql).asBulk(sql.withTransaction(work));

export const transactions: ReadonlyArray<readonly [kind: string, run: RunTransaction]> = [
  ["transaction", single],
  ["bulk transaction", bulk],
];

export const add = (sql: SqlClient.SqlClient, name: string, count = 1) =>
  sql`INSERT INTO counters VALUES (${name}, ${count})`;

/** Returns the names in the table `counters`, as another connection sees them. */
export const names = ({ other }: Fixture) =>
  other
    .prepare("SELECT name FROM counters ORDER BY name")
    .all()
    .map((row) => row["name"]);

/** Lets all other fibers run. */
export const settle = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, { discard: true });
