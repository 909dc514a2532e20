/**
 * What databases do not say in the same words, all of it. A store reads the same on each of them; another database is
 * one more value here and one more case in `dialectOf`.
 *
 * What needs no word here: times are integers (milliseconds), JSON is text, there are no booleans, and `ON CONFLICT`,
 * `RETURNING`, `IS DISTINCT FROM` and `->>` are common to SQLite and Postgres.
 */
import { Effect } from "effect";
import { SqlClient, type SqlError, type Statement } from "effect/sql";
import { Patience } from "./patience.ts";

export interface Dialect {
  /** A column of text that is compared and ordered by its bytes. */
  readonly text: Statement.Fragment;
  /** A column of whole numbers up to `Number.MAX_SAFE_INTEGER`, which come back as numbers. */
  readonly integer: Statement.Fragment;
  /** A column that numbers its rows in the order in which they are written. */
  readonly sequence: Statement.Fragment;
  /** After the columns of a table. */
  readonly table: Statement.Fragment;
  /** The same for a table that is kept in the order of its primary key. */
  readonly tableByKey: Statement.Fragment;

  /** A source of rows with the column `value`: the elements of a JSON array, whatever they are, out of one parameter. */
  readonly elements: (json: string) => Statement.Fragment;
  /** After a column: whether it is among the strings of a JSON array, out of one parameter. */
  readonly isAmong: (json: string) => Statement.Fragment;

  /** After a column of an index: whether it is among the few rows of a SELECT, each of which is looked up. */
  readonly isAnyOf: (select: Statement.Fragment) => Statement.Fragment;

  /** After a SELECT in a transaction: until it ends, nobody else changes the rows or adds one that refers to them. */
  readonly forUpdate: Statement.Fragment;
  /** The same for a transaction that itself adds rows that refer to them, among others that do. */
  readonly forReference: Statement.Fragment;

  /** The same as `forUpdate`, leaving out the rows that somebody else has locked. */
  readonly forUpdateUnlocked: Statement.Fragment;
  /**
   * After `DELETE FROM <table>`: the first rows of those that meet the condition, by the columns of `order` and so many
   * at most. Rows that somebody else has locked may be left out.
   */
  readonly firstRows: (rows: {
    readonly table: string;
    readonly primaryKey: ReadonlyArray<string>;
    readonly order: string;
    readonly condition: Statement.Fragment;
    readonly atMost: number;
  }) => Statement.Fragment;

  /** The time by the clock of the database, in milliseconds. */
  readonly now: Statement.Fragment;

  /** How many rows a statement wrote, out of what its `raw` gives. */
  readonly rowsWritten: (raw: unknown) => number;

  /** Whether the database is so far away that one statement for many is worth waiting for the end of a turn. */
  readonly isRemote: boolean;
  /** A transaction that may take longer than those of one record. */
  readonly patiently: Around;
  /** A transaction of which there is one at a time, on every node. It waits for its turn. */
  readonly exclusively: Around;
}

type Around = <A, E, R>(transaction: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>;

const sqlite = (sql: SqlClient.SqlClient): Dialect => ({
  text: sql.literal("TEXT"),
  integer: sql.literal("INTEGER"),
  sequence: sql.literal("INTEGER PRIMARY KEY"),
  table: sql.literal("STRICT"),
  tableByKey: sql.literal("STRICT, WITHOUT ROWID"),
  elements: (json) => sql`json_each(${json})`,
  isAmong: (json) => sql`IN (SELECT value FROM json_each(${json}))`,
  isAnyOf: (select) => sql`IN (${select})`,
  // A transaction is the only writer from its BEGIN IMMEDIATE on.
  forUpdate: sql.literal(""),
  forReference: sql.literal(""),
  forUpdateUnlocked: sql.literal(""),
  firstRows: ({ table, primaryKey, order, condition, atMost }) => {
    const columns = sql.literal(primaryKey.join(", "));
    return sql`WHERE (${columns}) IN (
      SELECT ${columns} FROM ${sql(table)} WHERE ${condition} ORDER BY ${sql.literal(order)} LIMIT ${atMost})`;
  },
  now: sql.literal("CAST(unixepoch('subsec') * 1000 AS INTEGER)"),
  rowsWritten: (raw) => Number((raw as { readonly changes: number | bigint }).changes),
  isRemote: false,
  patiently: (transaction) => transaction,
  exclusively: sql.withTransaction,
});

const postgres = (sql: SqlClient.SqlClient): Dialect => ({
  text: sql.literal('TEXT COLLATE "C"'),
  integer: sql.literal("BIGINT"),
  sequence: sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
  table: sql.literal(""),
  tableByKey: sql.literal(""),
  elements: (json) => sql`json_array_elements(${json}::json) AS element (value)`,
  isAmong: (json) => sql`= ANY (ARRAY (SELECT json_array_elements_text(${json}::json)))`,
  // A join would be planned as a scan of the whole table.
  isAnyOf: (select) => sql`= ANY (ARRAY (${select}))`,
  forUpdate: sql.literal("FOR UPDATE"),
  forReference: sql.literal("FOR KEY SHARE"),
  forUpdateUnlocked: sql.literal("FOR UPDATE SKIP LOCKED"),
  // By their places. Found by their keys, many rows would be looked for in the whole table.
  firstRows: ({ table, order, condition, atMost }) => sql`WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM ${sql(table)} WHERE ${condition} ORDER BY ${sql.literal(order)}
      LIMIT ${atMost} FOR UPDATE SKIP LOCKED))`,
  now: sql.literal("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"),
  rowsWritten: (raw) => (raw as { readonly rowCount: number }).rowCount,
  isRemote: true,
  patiently: (transaction) => patientFor(minute, transaction),
  exclusively: (transaction) => {
    const lock = sql`SELECT pg_advisory_xact_lock(${lockKey})`;
    // A change of the schema that waits for a lock makes everybody wait who comes after it.
    const waitLittle = sql`SET LOCAL lock_timeout = 1000`;
    return patientFor(
      hour,
      sql.withTransaction(Effect.andThen(Effect.andThen(lock, waitLittle), transaction)),
    );
  },
});

const [minute, hour] = [60_000, 3_600_000];

/** Any number, as long as nobody else in the database takes it. Another release has to take the same. */
const lockKey = 22_268_854_654;

/** @param time in milliseconds */
const patientFor = <A, E, R>(time: number, transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const settings = ["statement_timeout", "idle_in_transaction_session_timeout"];
  const begin = ["BEGIN", ...settings.map((setting) => `SET LOCAL ${setting} = ${time}`)].join("; ");
  return transaction.pipe(
    Effect.provideService(Patience, time),
    Effect.provideService(SqlClient.BeginTransaction, begin),
  );
};

/** The dialect of a client. A client of a database without one is a defect. */
export const dialectOf = (sql: SqlClient.SqlClient): Dialect =>
  sql.onDialectOrElse({
    sqlite: () => sqlite(sql),
    pg: () => postgres(sql),
    orElse: () => {
      throw new TypeError(
        `Cannot speak to "${sql.driver}": it has no dialect, expected a client for SQLite or Postgres`,
      );
    },
  });
