/**
 * Copies all records of one database to another that is empty, table by table and as they are, then compares the two. A
 * copy that was interrupted goes on where it stopped: rows are copied in the order of their primary keys.
 */
import { type Moved, MoveRefused } from "@accountlink/core";
import { Effect, type Scope } from "effect";
import { type SqlError } from "effect/sql";
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
  type Row,
  relationOf,
  type Sql,
  shapesOf,
  type TableShape,
  type Translation,
} from "./tables.ts";

const translationOf = (source: Sql, target: Sql): Translation => {
  if (isPostgres(source) === isPostgres(target)) return {};
  return isPostgres(target) ? { journal: { position: "sequence" } } : asOnSqlite;
};

/** Tables that are not copied: a migration or a trigger fills them. */
const isFilledElsewhere = (name: string): boolean => name === "schema_migrations" || name === "place_users";

/** The last table: a server that started before the end would otherwise take the target for whole. */
const last = "root_key";

const rowsOfBatch = 500;

/**
 * @param show called with the number of copied rows, and with the number of rows in the source
 * @param settle runs once both are the same, before the target may be used
 * @internal
 */
export const moveDatabase = Effect.fnUntraced(function* <E = never>(
  source: Sql,
  target: Sql,
  show: (done: number, total: number) => Effect.Effect<void>,
  settle: Effect.Effect<void, E> = Effect.void,
): Effect.fn.Return<Moved, MoveRefused | SqlError.SqlError | E, Scope.Scope> {
  const tables = yield* sameTables(source, target);
  const [own] = yield* source.unsafe<{ readonly wrapped: string }>("SELECT wrapped FROM root_key");
  if (own === undefined) return yield* MoveRefused.of("emptySource");
  yield* claim(target, tables, own.wrapped);
  const translation = translationOf(source, target);
  yield* holdStill(source, tables);
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
  if (differences.length === 0) yield* Effect.andThen(settle, target.unsafe(`DROP TABLE ${mark}`));
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
  return ofTarget.filter(({ name }) => name !== "schema_migrations" && name !== "storage_place");
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

const keyOf = ({ key }: TableShape, row: Row): ReadonlyArray<unknown> => key.map((column) => row[column]);

const page = (
  sql: Sql,
  table: TableShape,
  after: ReadonlyArray<unknown> | null,
  translation: Translation = {},
) => pageOf(sql, relationOf(table, translation), after, rowsOfBatch);

const lastKey = (sql: Sql, table: TableShape) => {
  const order = table.key.map((column) => `${column} DESC`).join(", ");
  return Effect.map(
    sql.unsafe<Row>(`SELECT ${table.key.join(", ")} FROM ${table.name} ORDER BY ${order} LIMIT 1`),
    ([row]) => (row === undefined ? null : keyOf(table, row)),
  );
};

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
