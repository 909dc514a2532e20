/**
 * Moves of all records from one storage to another, by the rows that an SQL storage has for them. A storage without SQL
 * says which rows its records stand for.
 */
import { Effect } from "effect";
import type { StoreEffect, StoreUnavailable } from "./errors.ts";
import { type Moved, MoveRefused } from "./storage_state.ts";

/** @internal */
export type RowValue = string | number | null;

/** A row by its columns, as SQLite has it. @internal */
export type Row = Readonly<Record<string, RowValue>>;

/** A place in the order of a table's keys. @internal */
export type RowKey = ReadonlyArray<RowValue>;

interface RowsPage {
  /** Each row with the key behind which a move goes on after it; null for the start of the table. */
  readonly rows: ReadonlyArray<{ readonly row: Row; readonly after: RowKey | null }>;
  /** Where the next page begins; null if the table has no more. */
  readonly after: RowKey | null;
}

/** @internal */
export interface StorageRows {
  /** Each after those that its rows refer to. */
  readonly tables: ReadonlyArray<string>;

  /** Returns the next rows behind a key, in the order of their keys. */
  readonly page: (table: string, after: RowKey | null) => StoreEffect<RowsPage, MoveRefused>;

  /** Whether the table has these rows. */
  readonly has: (table: string, rows: ReadonlyArray<Row>) => StoreEffect<boolean, MoveRefused>;

  readonly count: (table: string) => StoreEffect<number>;

  /** Marks an empty storage as the target of a move. Returns the saved place of an earlier attempt with the same source. */
  readonly begin: (rootKey: string) => StoreEffect<string | null, MoveRefused>;

  /**
   * Stores rows, some of which may be there, and saves the place. Several transactions may do that, each with its place.
   * Fails once another move into the storage goes on or has ended.
   *
   * @param placeAfter returns the place behind the first rows of this number
   */
  readonly insert: (
    table: string,
    rows: ReadonlyArray<Row>,
    placeAfter: (count: number) => string,
  ) => StoreEffect<void, MoveRefused>;

  readonly end: StoreEffect<void, MoveRefused>;
}

/** Where a move goes on. A place that another release has saved may name no table. */
interface Place {
  readonly table?: string;
  readonly after: RowKey | null;
}

/**
 * Copies all records of a storage to another that is empty, table by table, then compares the two. A copy that was
 * interrupted goes on where it stopped.
 *
 * @param show called with the number of copied rows, and with the number of rows in the source
 * @param settle runs once both are the same, before the target may be used
 * @internal
 */
export const moveRows = Effect.fnUntraced(function* <E = never>(
  source: StorageRows,
  target: StorageRows,
  show: (done: number, total: number) => Effect.Effect<void>,
  settle: Effect.Effect<void, E> = Effect.void,
): Effect.fn.Return<Moved, MoveRefused | StoreUnavailable | E> {
  const { tables, place } = yield* claim(source, target);
  let [done, total] = [0, 0];
  for (const table of tables) {
    total += yield* source.count(table);
    if (place !== null) done += yield* target.count(table);
  }
  for (const table of tables.slice(Math.max(0, tables.indexOf(place?.table ?? "")))) {
    for (let from: RowKey | null = place?.table === table ? place.after : null; ; ) {
      const { rows, after }: RowsPage = yield* source.page(table, from);
      const placeAfter = (count: number) => JSON.stringify({ table, after: rows[count - 1]?.after ?? from });
      if (rows.length > 0) yield* target.insert(table, rowsOf(rows), placeAfter);
      done += rows.length;
      yield* show(Math.min(done, total), total);
      if (after === null) break;
      from = after;
    }
  }
  const moved = yield* compared(source, target, tables);
  if (moved.different.length === 0) yield* Effect.andThen(settle, target.end);
  return moved;
});

/** Marks the target. Returns the tables to copy, and the place where an earlier attempt stopped. */
const claim = Effect.fnUntraced(function* (source: StorageRows, target: StorageRows) {
  const [root] = (yield* source.page("root_key", null)).rows;
  if (root === undefined) return yield* MoveRefused.of("emptySource");
  const tables = source.tables.filter((table) => target.tables.includes(table));
  const erasures = tables.includes("erasures") ? 0 : yield* source.count("erasures");
  if (erasures > 0) return yield* MoveRefused.of("erasing");
  const saved = yield* target.begin(String(root.row["wrapped"]));
  return { tables, place: saved === null ? null : (JSON.parse(saved) as Place) };
});

const rowsOf = (rows: RowsPage["rows"]): ReadonlyArray<Row> => rows.map(({ row }) => row);

const compared = Effect.fnUntraced(function* (
  source: StorageRows,
  target: StorageRows,
  tables: ReadonlyArray<string>,
) {
  const counts: Record<string, number> = {};
  const different: Array<Moved["different"][number]> = [];
  for (const table of tables) {
    let count = 0;
    let isSame = true;
    for (let from: RowKey | null = null; ; ) {
      const { rows, after }: RowsPage = yield* source.page(table, from);
      if (rows.length > 0 && !(yield* target.has(table, rowsOf(rows)))) isSame = false;
      count += rows.length;
      if (after === null) break;
      from = after;
    }
    counts[table] = count;
    const found = yield* target.count(table);
    if (!isSame || found !== count) different.push({ table, source: count, target: found });
  }
  return { tables: counts, different } satisfies Moved;
});

/** Columns that are not compared: indexes of what the details say, which earlier releases had for other users. */
const uncompared = new Set(["journal.chat_id", "journal.other_chat_id"]);

/** Whether two rows have the same values in the columns that both have. @internal */
export const isSameRow = (table: string, one: Row, other: Row | undefined): boolean =>
  other !== undefined &&
  Object.entries(one).every(
    ([column, value]) =>
      !(column in other) || uncompared.has(`${table}.${column}`) || isSame(value, other[column]),
  );

/** JSON that another release wrote may have another form. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (isJson(one) && isJson(other) && formOf(one) === formOf(other));

const isJson = (value: unknown): value is string => typeof value === "string" && /^[[{]/.test(value);

const formOf = (text: string): string => JSON.stringify(JSON.parse(text));
