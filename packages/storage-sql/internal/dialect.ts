/**
 * What databases do not say in the same words, all of it. A store reads the same on each of them; another database is
 * one more value here and one more case in `dialectOf`.
 *
 * What needs no word here: times are integers (milliseconds), JSON is text, there are no booleans, and `ON CONFLICT`,
 * `RETURNING`, `IS DISTINCT FROM` and `->>` are common to SQLite and Postgres.
 */
import type { SqlClient, Statement } from "effect/sql";

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
  /** The same for an array of strings. */
  readonly strings: (json: string) => Statement.Fragment;

  /** After a SELECT in a transaction: until it ends, nobody else changes the rows or adds one that refers to them. */
  readonly forUpdate: Statement.Fragment;
  /** The same for a transaction that itself adds rows that refer to them, among others that do. */
  readonly forReference: Statement.Fragment;

  /** How many rows a statement wrote, out of what its `raw` gives. */
  readonly rowsWritten: (raw: unknown) => number;
}

const sqlite = (sql: SqlClient.SqlClient): Dialect => ({
  text: sql.literal("TEXT"),
  integer: sql.literal("INTEGER"),
  sequence: sql.literal("INTEGER PRIMARY KEY"),
  table: sql.literal("STRICT"),
  tableByKey: sql.literal("STRICT, WITHOUT ROWID"),
  elements: (json) => sql`json_each(${json})`,
  strings: (json) => sql`json_each(${json})`,
  // A transaction is the only writer from its BEGIN IMMEDIATE on.
  forUpdate: sql.literal(""),
  forReference: sql.literal(""),
  rowsWritten: (raw) => Number((raw as { readonly changes: number | bigint }).changes),
});

/** The dialect of a client. A client of a database without one is a defect. */
export const dialectOf = (sql: SqlClient.SqlClient): Dialect =>
  sql.onDialectOrElse({
    sqlite: () => sqlite(sql),
    orElse: () => {
      throw new TypeError(`Cannot speak to "${sql.driver}": it has no dialect, expected a client for SQLite`);
    },
  });
