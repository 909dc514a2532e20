/** The tables of a database, as a move reads and writes them. */
import { MoveRefused, type Row } from "@accountlink/core";
import { Effect } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { numberRecordsOn, unnumberedPlaces } from "../journal/positions.ts";
import { marks, runOn } from "../record_table.ts";
import { dialectOf } from "../statements/dialect.ts";

export type Sql = SqlClient.SqlClient;

export interface TableShape {
  readonly name: string;
  readonly columns: ReadonlyArray<string>;
  /** The columns of the primary key, in order. */
  readonly key: ReadonlyArray<string>;
  /** The column that the database numbers by itself. */
  readonly identity: string | null;
}

/** What to read of the source in place of a column, by table: SQL that may use the other columns of the row. */
export type Translation = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const selectOf = ({ name, columns }: TableShape, translation: Translation): string =>
  `SELECT ${columns.map((each) => `${translation[name]?.[each] ?? each} AS ${each}`).join(", ")} FROM ${name}`;

/** Only Postgres has the column: on SQLite, the sequence of a record is its position. */
export const isPosition = (table: string, column: string): boolean =>
  table === "journal" && column === "position";

const positionIn = (column: string): string =>
  `(SELECT position FROM journal WHERE place = pid AND sequence = ${column})`;

/** What SQLite has in place of columns of Postgres. */
export const asOnSqlite: Translation = {
  journal: { sequence: "position" },
  link_imports: { entry: positionIn("entry"), undo_entry: positionIn("undo_entry") },
  block_removals: { entry: positionIn("entry") },
};

/**
 * Gives every record of the journal its position. On Postgres, lets nobody write until the scope closes; the embedded
 * storage is in use by one process alone.
 */
export const holdStill = Effect.fnUntraced(function* (sql: Sql, tables: ReadonlyArray<TableShape>) {
  for (const place of yield* unnumberedPlaces(sql)) yield* numberRecordsOn(sql)(place);
  if (!isPostgres(sql)) return;
  const connection = yield* sql.reserve;
  const names = tables.map(({ name }) => name).join(", ");
  for (const statement of [
    "BEGIN",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    `LOCK TABLE ${names} IN SHARE MODE`,
  ]) {
    yield* connection.executeUnprepared(statement, [], undefined);
  }
});

/** Marks a target into which a move is under way. Its row is the root key of the source. */
export const mark = "moving";

/**
 * Marks an empty target, or finds the mark of an earlier attempt with the same source, and the place that it saved.
 *
 * @param wrapped the root key of the source
 */
export const claim = Effect.fnUntraced(function* (
  target: Sql,
  tables: ReadonlyArray<TableShape>,
  wrapped: string,
) {
  const marked = yield* target.unsafe(`SELECT * FROM ${mark}`).pipe(
    Effect.map(([found]) => found as { readonly wrapped: string; readonly place?: string } | undefined),
    Effect.catch(() => Effect.succeed(undefined)),
  );
  if (marked?.wrapped === wrapped) return marked.place ?? null;
  if (marked !== undefined) return yield* MoveRefused.of("otherTarget");
  for (const table of tables) {
    if ((yield* target.unsafe(`SELECT 1 AS one FROM ${table.name} LIMIT 1`)).length > 0) {
      return yield* MoveRefused.of("usedTarget");
    }
  }
  yield* target.withTransaction(
    Effect.andThen(
      target.unsafe(`CREATE TABLE ${mark} (wrapped TEXT NOT NULL PRIMARY KEY, place TEXT)`),
      runOn(target)(`INSERT INTO ${mark} (wrapped) VALUES (?)`, [wrapped]),
    ),
  );
  return null;
});

export const isPostgres = (sql: Sql): boolean => dialectOf(sql).isRemote;

export const countOf = (sql: Sql, { name }: Pick<TableShape, "name">) =>
  Effect.map(sql.unsafe<{ readonly count: number }>(`SELECT COUNT(*) AS count FROM ${name}`), ([row]) =>
    Number(row?.count),
  );

export const insert = (
  sql: Sql,
  { name, columns, identity }: Omit<TableShape, "key">,
  rows: ReadonlyArray<Row>,
) => {
  const values = rows.map(() => marks(columns)).join(", ");
  const numbered = identity === null ? "" : "OVERRIDING SYSTEM VALUE";
  return runOn(sql)(
    `INSERT INTO ${name} (${columns.join(", ")}) ${numbered} VALUES ${values} ON CONFLICT DO NOTHING`,
    rows.flatMap((row) => columns.map((column) => row[column])),
  );
};

/** Lets the database number new rows after those that were copied. */
export const numberOn = (sql: Sql, { name, identity }: TableShape) =>
  identity === null
    ? Effect.void
    : sql.unsafe(
        `SELECT setval(pg_get_serial_sequence('${name}', '${identity}'), COALESCE(MAX(${identity}), 1), MAX(${identity}) IS NOT NULL) FROM ${name}`,
      );

export const shapesOf = (sql: Sql): Effect.Effect<ReadonlyArray<TableShape>, SqlError.SqlError> =>
  Effect.map(isPostgres(sql) ? postgresShapes(sql) : sqliteShapes(sql), (shapes) =>
    shapes.filter(({ name }) => name !== mark).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  );

const postgresShapes = (sql: Sql) =>
  Effect.map(
    sql.unsafe<Record<"name" | "columns" | "key", string> & { readonly identity: string | null }>(`
      SELECT c.relname::text AS name,
        (SELECT json_agg(a.attname ORDER BY a.attnum)::text FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
        (SELECT json_agg(a.attname ORDER BY array_position(i.indkey::int2[], a.attnum))::text
          FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
          WHERE i.indrelid = c.oid AND i.indisprimary) AS key,
        (SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> '') AS identity
      FROM pg_class c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`),
    (rows) =>
      rows.map(
        ({ name, columns, key, identity }): TableShape => ({
          name,
          columns: JSON.parse(columns) as ReadonlyArray<string>,
          key: JSON.parse(key) as ReadonlyArray<string>,
          identity,
        }),
      ),
  );

const sqliteShapes = Effect.fnUntraced(function* (sql: Sql) {
  const names = yield* sql.unsafe<{ readonly name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  return yield* Effect.forEach(
    names,
    Effect.fnUntraced(function* ({ name }) {
      const columns = yield* sql.unsafe<{ readonly name: string; readonly pk: number }>(
        "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid",
        [name],
      );
      const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
      return {
        name,
        columns: columns.map((column) => column.name),
        key: key.map((column) => column.name),
        identity: null,
      };
    }),
  );
});
