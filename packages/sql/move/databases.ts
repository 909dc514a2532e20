/**
 * Copies all records of one database to another that is empty, table by table, then compares the two. A copy that was
 * interrupted goes on where it stopped: rows are copied in the order of their primary keys.
 */
import { type Moved, MoveRefused, type Row, type RowValue, type StorageRows } from "@accountlink/core";
import type { StoreUnavailable } from "@accountlink/core/errors";
import { Effect, type Scope } from "effect";
import type { SqlError } from "effect/sql";
import { openRows } from "./rows.ts";
import type { Sql, TableShape } from "./tables.ts";

/** Tables that are not copied: a trigger fills them. */
const isFilledElsewhere = (name: string): boolean => name === "place_users";

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
): Effect.fn.Return<Moved, MoveRefused | StoreUnavailable | SqlError.SqlError | E, Scope.Scope> {
  const [from, to] = [yield* openRows(source, "source"), yield* openRows(target, "target")];
  if (schemaText(from.shapes) !== schemaText(to.shapes)) {
    return yield* new MoveRefused({
      reason: "the schemas differ, expected two of this release (accountlink migrate)",
    });
  }
  const [root] = yield* from.page(last, null, 1);
  if (root === undefined) return yield* MoveRefused.of("emptySource");
  yield* to.begin(String(root["wrapped"]));
  const tables = inOrder(to.shapes);
  const counts: Record<string, number> = {};
  for (const { name } of tables) counts[name] = yield* from.count(name);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const table of tables) {
    const { name } = table;
    if (isFilledElsewhere(name)) continue;
    done += yield* to.count(name);
    for (let after = yield* lastKey(target, table); ; ) {
      const rows = yield* from.page(name, after, rowsOfBatch);
      const newest = rows.at(-1);
      if (newest === undefined) break;
      after = keyOf(table, newest);
      yield* to.insert({ [name]: rows }, JSON.stringify([name, ...after]));
      done += rows.length;
      yield* show(done, total);
    }
  }
  const different: Array<Moved["different"][number]> = [];
  for (const table of tables) {
    const { name } = table;
    if (yield* isSame(from, to, table)) continue;
    different.push({ table: name, source: yield* from.count(name), target: yield* to.count(name) });
  }
  if (different.length === 0) yield* Effect.andThen(settle, to.end);
  return { tables: counts, different };
});

const schemaText = (shapes: ReadonlyArray<TableShape>): string =>
  JSON.stringify(shapes.map(({ name, columns }) => [name, columns]));

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

const keyOf = ({ key }: TableShape, row: Row): ReadonlyArray<RowValue> =>
  key.map((column) => row[column] ?? null);

const lastKey = (sql: Sql, table: TableShape) => {
  const order = table.key.map((column) => `${column} DESC`).join(", ");
  return Effect.map(
    sql.unsafe<Row>(`SELECT ${table.key.join(", ")} FROM ${table.name} ORDER BY ${order} LIMIT 1`),
    ([row]) => (row === undefined ? null : keyOf(table, row)),
  );
};

/** Reads a table of both databases, and returns whether every row is the same. */
const isSame = Effect.fnUntraced(function* (from: StorageRows, to: StorageRows, table: TableShape) {
  for (let after: ReadonlyArray<RowValue> | null = null; ; ) {
    const pageOf = (rows: StorageRows) => rows.page(table.name, after, rowsOfBatch);
    const [ofSource, ofTarget]: ReadonlyArray<ReadonlyArray<Row>> = yield* Effect.all([
      pageOf(from),
      pageOf(to),
    ]);
    if (JSON.stringify(ofSource) !== JSON.stringify(ofTarget)) return false;
    const newest = ofSource?.at(-1);
    if (newest === undefined) return true;
    after = keyOf(table, newest);
  }
});
