/** The rows of a database, as a move reads and writes them. */
import { MoveRefused, type Row, type RowKey, type StorageRows } from "@accountlink/core";
import { isSameRow, movedTables, recordTypes, rootKeys } from "@accountlink/core/storage";
import { Array as Arr, Effect, type Scope } from "effect";
import type { SqlError } from "effect/sql";
import { marks, runOn } from "../record_table.ts";
import { storeOperation } from "../statements/store_operation.ts";
import {
  asOnSqlite,
  claim,
  countOf,
  holdStill,
  insert,
  isPosition,
  isPostgres,
  mark,
  numberOn,
  type Sql,
  selectOf,
  shapesOf,
  type Translation,
} from "./tables.ts";

/** Fewer than the most parameters of a statement, in the table with the most columns. */
const rowsOfPage = 500;

/** A trigger fills the last. */
const notMoved = new Set(["schema_migrations", "storage_place", "place_users"]);

const largeTables = new Set(recordTypes.filter(({ isLarge }) => isLarge).map(({ name }) => name));

/** What is read of plans: the bypass roles that earlier releases stored, and no progress of a sweep that ended. */
const inOneForm: Translation = {
  role_plans: {
    bypass_role_ids: `COALESCE(bypass_role_ids, '["' || bypass_role_id || '"]', '[]')`,
    nickname_bypass_role_ids: "COALESCE(nickname_bypass_role_ids, '[]')",
    sweep_started_at: "CASE WHEN sweep_total IS NULL THEN NULL ELSE sweep_started_at END",
    sweep_after: "CASE WHEN sweep_total IS NULL THEN NULL ELSE sweep_after END",
    sweep_done: "CASE WHEN sweep_total IS NULL THEN 0 ELSE sweep_done END",
  },
};

/** Tables that an engine has not go after those that their rows refer to, and before the root key. */
const orderOf = (name: string): number => {
  const place = movedTables.indexOf(name);
  return place === -1 ? movedTables.indexOf(rootKeys.name) - 0.5 : place;
};

/** Opens the rows. A source does not change until the scope closes. @internal */
export const openRows = Effect.fnUntraced(function* (
  sql: Sql,
  role: "source" | "target",
): Effect.fn.Return<StorageRows, SqlError.SqlError, Scope.Scope> {
  const shapes = (yield* shapesOf(sql))
    .filter(({ name }) => !notMoved.has(name))
    .map(({ columns, ...shape }) => ({
      ...shape,
      columns: columns.filter((each) => !isPosition(shape.name, each)),
    }))
    .toSorted((one, other) => orderOf(one.name) - orderOf(other.name));
  if (role === "source") yield* holdStill(sql, shapes);
  const translation = { ...inOneForm, ...(isPostgres(sql) && asOnSqlite) };
  const tables = new Map(
    shapes.map((shape) => [shape.name, { ...shape, select: selectOf(shape, translation) }]),
  );
  const tableOf = (name: string) => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`Cannot move "${name}", expected a table of the schema`);
    return table;
  };
  const keyIn = (name: string, row: Row): RowKey => tableOf(name).key.map((column) => row[column] ?? null);
  const list = (rows: ReadonlyArray<RowKey>) =>
    `(${isPostgres(sql) ? "" : "VALUES "}${rows.map(marks).join(", ")})`;
  /** Adds the column that SQLite lacks. */
  const withPosition = (name: string, rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
    name === "journal" && isPostgres(sql)
      ? rows.map((row) => ({ ...row, position: row["sequence"] ?? null }))
      : rows;

  const find = (name: string, rows: ReadonlyArray<Row>) => {
    const { key, select } = tableOf(name);
    const keys = rows.map((row) => keyIn(name, row));
    return runOn(sql)<Row>(
      `SELECT * FROM (${select}) AS found WHERE (${key.join(", ")}) IN ${list(keys)}`,
      keys.flat(),
    );
  };

  let saved: string | null = null;
  const save = (place: string | null) => () => {
    saved = place;
  };

  return {
    tables: shapes.map(({ name }) => name),

    page: (name, after) => {
      const { key, select } = tableOf(name);
      const order = key.join(", ");
      const where = after === null ? "" : `WHERE (${order}) > ${marks(key)}`;
      const limit = largeTables.has(name) ? 1 : rowsOfPage;
      const found = runOn(sql)<Row>(
        `SELECT * FROM (${select}) AS page ${where} ORDER BY ${order} LIMIT ${limit}`,
        after ?? [],
      );
      return storeOperation("Move.page")(
        Effect.map(found, (all) => {
          const rows = all.map((row) => ({ row, after: keyIn(name, row) }));
          return { rows, after: rows[limit - 1]?.after ?? null };
        }),
      );
    },

    has: (name, rows) =>
      storeOperation("Move.has")(
        Effect.gen(function* () {
          for (const some of Arr.chunksOf(rows, rowsOfPage)) {
            const found = yield* find(name, some);
            const byKey = new Map(found.map((row) => [JSON.stringify(keyIn(name, row)), row]));
            const isStored = (row: Row) => isSameRow(name, row, byKey.get(JSON.stringify(keyIn(name, row))));
            if (!some.every(isStored)) return false;
          }
          return true;
        }),
      ),

    count: (name) => storeOperation("Move.count")(countOf(sql, { name })),

    begin: (rootKey) =>
      claim(sql, shapes, rootKey).pipe(
        Effect.catchTag("SqlError", (error) => storeOperation("Move.begin")(Effect.fail(error))),
        Effect.tap((place) => Effect.sync(save(place))),
      ),

    insert: (name, rows, placeAfter) => {
      const place = placeAfter(rows.length);
      return storeOperation("Move.insert")(
        sql.withTransaction(
          Effect.gen(function* () {
            // Two moves of one source would insert the same rows.
            const own = yield* runOn(sql)(
              `UPDATE ${mark} SET place = ? WHERE place IS NOT DISTINCT FROM ? RETURNING 1 AS one`,
              [place, saved],
            );
            if (own.length === 0) return false;
            for (const some of Arr.chunksOf(withPosition(name, rows), rowsOfPage)) {
              yield* insert(sql, { ...tableOf(name), columns: Object.keys(some[0]) }, some);
            }
            return true;
          }),
        ),
      ).pipe(
        Effect.filterOrFail(Boolean, () => MoveRefused.of("otherMove")),
        Effect.map(save(place)),
      );
    },

    end: storeOperation("Move.end")(
      Effect.gen(function* () {
        for (const table of shapes) yield* numberOn(sql, table);
        yield* sql`UPDATE scopes SET has_blocks = 1 WHERE pid IN (SELECT pid FROM blocks)`;
        yield* sql.unsafe(`DROP TABLE ${mark}`);
      }),
    ),
  };
});
