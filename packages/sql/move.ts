/**
 * Copies all records of one database to another that is empty, table by table and as they are, then compares the two. A
 * copy that was interrupted goes on where it stopped: rows are copied in the order of their primary keys.
 */
import { type Moved, MoveRefused } from "@accountlink/core";
import { Effect } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { numberRecordsOn, unnumberedPlaces } from "./journal/positions.ts";
import { dialectOf } from "./statements/dialect.ts";

type Sql = SqlClient.SqlClient;
type Row = Readonly<Record<string, unknown>>;

interface TableShape {
  readonly name: string;
  readonly columns: ReadonlyArray<string>;
  /** The columns of the primary key, in order. */
  readonly key: ReadonlyArray<string>;
  /** The column that the database numbers by itself. */
  readonly identity: string | null;
  /** The tables that its rows refer to. */
  readonly parents: ReadonlyArray<string>;
}

/** What to read of the source in place of a column, by table: SQL that may use the other columns of the row. */
type Translation = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Only Postgres has the column: on SQLite, the sequence of a record is its position. */
const isPosition = (table: string, column: string): boolean => table === "journal" && column === "position";

const positionIn = (column: string): string =>
  `(SELECT position FROM journal WHERE place = pid AND sequence = ${column})`;

const translationOf = (source: Sql, target: Sql): Translation => {
  if (isPostgres(source) === isPostgres(target)) return {};
  if (isPostgres(target)) return { journal: { position: "sequence" } };
  return {
    journal: { sequence: "position" },
    link_imports: { entry: positionIn("entry"), undo_entry: positionIn("undo_entry") },
    block_removals: { entry: positionIn("entry") },
  };
};

/** Marks a target into which a move is under way. Its row is the root key of the source. */
const mark = "moving";

/** Tables that are not copied: a migration or a trigger fills them. */
const isFilledElsewhere = (name: string): boolean => name === "schema_migrations" || name === "place_users";

/** The last table: a server that started before the end would otherwise take the target for whole. */
const last = "root_key";

const rowsOfBatch = 500;

/**
 * @param show called with the number of copied rows, and with the number of rows in the source
 * @internal
 */
export const moveDatabase = Effect.fnUntraced(function* (
  source: Sql,
  target: Sql,
  show: (done: number, total: number) => Effect.Effect<void>,
): Effect.fn.Return<Moved, MoveRefused | SqlError.SqlError> {
  const tables = yield* sameTables(source, target);
  yield* claim(source, target, tables);
  const translation = translationOf(source, target);
  for (const place of yield* unnumberedPlaces(source)) yield* numberRecordsOn(source)(place);
  const counts: Record<string, number> = {};
  for (const table of tables) counts[table.name] = yield* countOf(source, table);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of inOrder(tables)) {
    if (isFilledElsewhere(table.name)) continue;
    done += yield* countOf(target, table);
    let after = yield* lastKey(target, table);
    while (true) {
      const rows = yield* page(source, table, after, translation);
      const newest = rows.at(-1);
      if (newest === undefined) break;
      yield* insert(target, table, rows);
      after = keyOf(table, newest);
      done += rows.length;
      yield* show(done, total);
    }
    yield* numberOn(target, table);
  }
  const different = yield* Effect.filter(tables, (table) =>
    Effect.map(isSame(source, target, table, translation), (same) => !same),
  );
  const differences = yield* Effect.forEach(different, (table) =>
    Effect.map(Effect.all([countOf(source, table), countOf(target, table)]), ([ofSource, ofTarget]) => ({
      table: table.name,
      source: ofSource,
      target: ofTarget,
    })),
  );
  if (differences.length === 0) yield* target.unsafe(`DROP TABLE ${mark}`);
  return { tables: counts, different: differences };
});

const schemaText = (shapes: ReadonlyArray<TableShape>): string =>
  JSON.stringify(
    shapes.map(({ name, columns }) => [name, columns.filter((each) => !isPosition(name, each)).toSorted()]),
  );

/** Returns the tables of both databases, which have to be the same. */
const sameTables = Effect.fnUntraced(function* (source: Sql, target: Sql) {
  const [ofSource, ofTarget] = yield* Effect.all([shapesOf(source), shapesOf(target)]);
  if (schemaText(ofSource) !== schemaText(ofTarget)) {
    return yield* new MoveRefused({
      reason: "the schemas differ, expected two of this release (accountlink migrate)",
    });
  }
  // The shape of the target has its numbered columns.
  return ofTarget.filter(({ name }) => name !== "schema_migrations");
});

/** Marks an empty target, or finds the mark of an earlier attempt with the same source. */
const claim = Effect.fnUntraced(function* (source: Sql, target: Sql, tables: ReadonlyArray<TableShape>) {
  const [own] = yield* source.unsafe<{ readonly wrapped: string }>("SELECT wrapped FROM root_key");
  if (own === undefined)
    return yield* new MoveRefused({ reason: "the source is empty, expected the data of a server" });
  const isMarked = yield* target.unsafe(`SELECT wrapped FROM ${mark}`).pipe(
    Effect.map(([found]) => found as { readonly wrapped: string } | undefined),
    Effect.catch(() => Effect.succeed(undefined)),
  );
  if (isMarked?.wrapped === own.wrapped) return;
  if (isMarked !== undefined) {
    return yield* new MoveRefused({
      reason: "the target has part of another storage, expected an empty one",
    });
  }
  for (const table of tables) {
    if ((yield* target.unsafe(`SELECT 1 AS one FROM ${table.name} LIMIT 1`)).length > 0) {
      return yield* new MoveRefused({ reason: "the target holds data, expected an empty one" });
    }
  }
  yield* target.withTransaction(
    Effect.andThen(
      target.unsafe(`CREATE TABLE ${mark} (wrapped TEXT NOT NULL PRIMARY KEY)`),
      target.unsafe(`INSERT INTO ${mark} (wrapped) VALUES (${placeholder(target, 0)})`, [own.wrapped]),
    ),
  );
});

/** Sorts tables after those that they refer to. */
const inOrder = (tables: ReadonlyArray<TableShape>): ReadonlyArray<TableShape> => {
  const sorted = new Set<TableShape>();
  const add = (table: TableShape): void => {
    if (sorted.has(table)) return;
    for (const parent of tables) if (parent !== table && table.parents.includes(parent.name)) add(parent);
    sorted.add(table);
  };
  for (const table of tables) if (table.name !== last) add(table);
  return [...sorted, ...tables.filter(({ name }) => name === last)];
};

const placeholder = (sql: Sql, index: number): string => (isPostgres(sql) ? `$${index + 1}` : "?");

const isPostgres = (sql: Sql): boolean => dialectOf(sql).isRemote;

const placeholders = (sql: Sql, count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => placeholder(sql, from + index)).join(", ");

const keyOf = ({ key }: TableShape, row: Row): ReadonlyArray<unknown> => key.map((column) => row[column]);

const countOf = (sql: Sql, { name }: TableShape) =>
  Effect.map(sql.unsafe<{ readonly count: number }>(`SELECT COUNT(*) AS count FROM ${name}`), ([row]) =>
    Number(row?.count),
  );

const page = (
  sql: Sql,
  { name, columns, key }: TableShape,
  after: ReadonlyArray<unknown> | null,
  translation: Translation = {},
) => {
  const read = (column: string) => translation[name]?.[column] ?? column;
  const order = key.map(read).join(", ");
  const where = after === null ? "" : `WHERE (${order}) > (${placeholders(sql, key.length)})`;
  return sql.unsafe<Row>(
    `SELECT ${columns.map((each) => `${read(each)} AS ${each}`).join(", ")} FROM ${name} ${where} ORDER BY ${order} LIMIT ${rowsOfBatch}`,
    after ?? [],
  );
};

const lastKey = (sql: Sql, table: TableShape) => {
  const order = table.key.map((column) => `${column} DESC`).join(", ");
  return Effect.map(
    sql.unsafe<Row>(`SELECT ${table.key.join(", ")} FROM ${table.name} ORDER BY ${order} LIMIT 1`),
    ([row]) => (row === undefined ? null : keyOf(table, row)),
  );
};

const insert = (sql: Sql, { name, columns, identity }: TableShape, rows: ReadonlyArray<Row>) => {
  const values = rows.map((_, index) => `(${placeholders(sql, columns.length, index * columns.length)})`);
  const numbered = identity === null ? "" : "OVERRIDING SYSTEM VALUE";
  return sql.unsafe(
    `INSERT INTO ${name} (${columns.join(", ")}) ${numbered} VALUES ${values.join(", ")}`,
    rows.flatMap((row) => columns.map((column) => row[column])),
  );
};

/** Lets the database number new rows after those that were copied. */
const numberOn = (sql: Sql, { name, identity }: TableShape) =>
  identity === null
    ? Effect.void
    : sql.unsafe(
        `SELECT setval(pg_get_serial_sequence('${name}', '${identity}'), COALESCE(MAX(${identity}), 1), MAX(${identity}) IS NOT NULL) FROM ${name}`,
      );

/** Reads a table of both databases, and returns whether every row is the same. */
const isSame = Effect.fnUntraced(function* (
  source: Sql,
  target: Sql,
  table: TableShape,
  translation: Translation,
) {
  let after: ReadonlyArray<unknown> | null = null;
  while (true) {
    const [ofSource, ofTarget]: readonly [ReadonlyArray<Row>, ReadonlyArray<Row>] = yield* Effect.all([
      page(source, table, after, translation),
      page(target, table, after),
    ]);
    if (JSON.stringify(ofSource) !== JSON.stringify(ofTarget)) return false;
    const newest = ofSource.at(-1);
    if (newest === undefined) return true;
    after = keyOf(table, newest);
  }
});

const shapesOf = (sql: Sql): Effect.Effect<ReadonlyArray<TableShape>, SqlError.SqlError> =>
  Effect.map(isPostgres(sql) ? postgresShapes(sql) : sqliteShapes(sql), (shapes) =>
    shapes.filter(({ name }) => name !== mark).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  );

const postgresShapes = (sql: Sql) =>
  Effect.map(
    sql.unsafe<
      Record<"name" | "columns" | "key" | "parents", string> & { readonly identity: string | null }
    >(`
      SELECT c.relname::text AS name,
        (SELECT json_agg(a.attname ORDER BY a.attnum)::text FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
        (SELECT json_agg(a.attname ORDER BY array_position(i.indkey::int2[], a.attnum))::text
          FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
          WHERE i.indrelid = c.oid AND i.indisprimary) AS key,
        (SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> '') AS identity,
        COALESCE((SELECT json_agg(DISTINCT p.relname)::text
          FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid
          WHERE f.conrelid = c.oid AND f.contype = 'f'), '[]') AS parents
      FROM pg_class c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`),
    (rows) =>
      rows.map(
        ({ name, columns, key, parents, identity }): TableShape => ({
          name,
          columns: JSON.parse(columns) as ReadonlyArray<string>,
          key: JSON.parse(key) as ReadonlyArray<string>,
          identity,
          parents: JSON.parse(parents) as ReadonlyArray<string>,
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
      const parents = yield* sql.unsafe<{ readonly parent: string }>(
        `SELECT DISTINCT "table" AS parent FROM pragma_foreign_key_list(?)`,
        [name],
      );
      const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
      return {
        name,
        columns: columns.map((column) => column.name),
        key: key.map((column) => column.name),
        identity: null,
        parents: parents.map(({ parent }) => parent),
      };
    }),
  );
});
