/** The rows of a database, as a move reads and writes them. */
import { MoveRefused, type Row, type RowValue, type StorageRows } from "@accountlink/core";
import { recordTypes } from "@accountlink/core/storage";
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
  pageOf,
  type Relation,
  relationOf,
  type Sql,
  shapesOf,
  type TableShape,
  type Translation,
} from "./tables.ts";

/** Fewer than the most parameters of a statement, in the table with the most columns. */
const rowsOfStatement = 500;

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

/** What a storage without SQL keeps in a record of its own. */
const viewsOn = (sql: Sql): Readonly<Record<string, Relation>> => {
  const sequence = isPostgres(sql) ? "position" : "sequence";
  return {
    places: {
      key: ["place"],
      select: `
        SELECT place, MAX(newest) AS last, MAX(gone) AS start, MAX(told) AS newest_event,
          MIN(entry_at) AS oldest_entry, MIN(event_at) AS oldest_event
        FROM (
          SELECT place, MAX(${sequence}) AS newest, 0 AS gone,
            MAX(CASE WHEN event_id IS NULL THEN 0 ELSE ${sequence} END) AS told,
            MIN(CASE WHEN actor_type IS NOT NULL THEN at END) AS entry_at,
            MIN(CASE WHEN event_id IS NOT NULL THEN at END) AS event_at
          FROM journal GROUP BY place
          UNION ALL SELECT pid, position, position, position, NULL, NULL FROM feed_starts
        ) AS parts GROUP BY place`,
    },
    leases: {
      key: ["nodes", "id"],
      select: recordTypes
        .flatMap(({ held }) => (held === null ? [] : [held.nodes]))
        .map((table) => `SELECT '${table}' AS nodes, id, lives_until FROM ${table}`)
        .join(" UNION ALL "),
    },
  };
};

interface DatabaseRows extends StorageRows {
  /** The tables with their columns in alphabetical order, the same on all databases. */
  readonly shapes: ReadonlyArray<TableShape>;
}

/** Opens the rows. A source does not change until the scope closes. @internal */
export const openRows = Effect.fnUntraced(function* (
  sql: Sql,
  role: "source" | "target",
): Effect.fn.Return<DatabaseRows, SqlError.SqlError, Scope.Scope> {
  const shapes = (yield* shapesOf(sql))
    .filter(({ name }) => name !== "schema_migrations" && name !== "storage_place")
    .map(({ columns, ...shape }) => ({
      ...shape,
      columns: columns.filter((each) => !isPosition(shape.name, each)).toSorted(),
    }));
  if (role === "source") yield* holdStill(sql, shapes);
  const tables = new Map(shapes.map((shape) => [shape.name, shape]));
  const tableOf = (name: string) => {
    const shape = tables.get(name);
    if (shape === undefined) throw new Error(`Cannot move "${name}", expected a table of the schema`);
    return shape;
  };
  const views = viewsOn(sql);
  const translation = { ...inOneForm, ...(isPostgres(sql) && asOnSqlite) };
  const named = (name: string): Relation => views[name] ?? relationOf(tableOf(name), translation);
  const list = (rows: ReadonlyArray<ReadonlyArray<RowValue>>) =>
    `(${isPostgres(sql) ? "" : "VALUES "}${rows.map(marks).join(", ")})`;
  /** Adds the column that SQLite lacks. */
  const withPosition = (name: string, rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
    name === "journal" && isPostgres(sql)
      ? rows.map((row) => ({ ...row, position: row["sequence"] ?? null }))
      : rows;

  let saved: string | null = null;
  const save = (place: string | null) => () => {
    saved = place;
  };

  return {
    shapes,

    keyOf: (name) => named(name).key,

    page: (name, after, limit) => storeOperation("Move.page")(pageOf(sql, named(name), after, limit)),

    find: (name, columns, values) => {
      if (values.length === 0) return Effect.succeed([]);
      const { key, select } = named(name);
      const found = runOn(sql)<Row>(
        `SELECT * FROM (${select}) AS found WHERE (${columns.join(", ")}) IN ${list(values)} ORDER BY ${key.join(", ")}`,
        values.flat(),
      );
      return storeOperation("Move.find")(found);
    },

    count: (name) =>
      storeOperation("Move.count")(countOf(sql, { name: `(${named(name).select}) AS counted` })),

    begin: (rootKey) =>
      claim(sql, shapes, rootKey).pipe(
        Effect.catchTag("SqlError", (error) => storeOperation("Move.begin")(Effect.fail(error))),
        Effect.tap((place) => Effect.sync(save(place))),
      ),

    insert: (batch, place) =>
      storeOperation("Move.insert")(
        sql.withTransaction(
          Effect.gen(function* () {
            // Two moves of one source would insert the same rows.
            const own = yield* runOn(sql)(
              `UPDATE ${mark} SET place = ? WHERE place IS NOT DISTINCT FROM ? RETURNING 1 AS one`,
              [place, saved],
            );
            if (own.length === 0) return false;
            for (const [name, rows] of Object.entries(batch)) {
              for (const some of Arr.chunksOf(withPosition(name, rows), rowsOfStatement)) {
                yield* insert(sql, { ...tableOf(name), columns: Object.keys(some[0]) }, some);
              }
            }
            return true;
          }),
        ),
      ).pipe(
        Effect.filterOrFail(Boolean, () => MoveRefused.of("otherMove")),
        Effect.map(save(place)),
      ),

    end: storeOperation("Move.end")(
      Effect.gen(function* () {
        for (const table of shapes) yield* numberOn(sql, table);
        yield* sql`UPDATE scopes SET has_blocks = 1 WHERE pid IN (SELECT pid FROM blocks)`;
        yield* sql.unsafe(`DROP TABLE ${mark}`);
      }),
    ),
  };
});
