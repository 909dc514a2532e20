/**
 * Copies all records between an SQL storage and this one, then compares the two by rows. A copy that was interrupted goes
 * on where it stopped: each transaction saves its place.
 */
import {
  type Moved,
  MoveRefused,
  type Row,
  type StorageRows,
  type StoreUnavailable,
} from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import { keyRecords } from "@accountlink/core/keys";
import { recordTypes, rootKeys } from "@accountlink/core/storage";
import { Array as Arr, Effect } from "effect";
import { Database } from "../database.ts";
import { encode, rangeOf, type Tuple } from "../keys.ts";
import type { Kv } from "../kv.ts";
import { kvTable } from "../record_tables.ts";
import { readRootKey } from "../root_key.ts";
import { claimSchema, schemaFault } from "../schema.ts";
import { carryOver } from "../stores/carry_over.ts";
import { erasures } from "../stores/erase_user.ts";
import { counts } from "../stores/scopes.ts";
import { table } from "../table.ts";
import { accountUnits, lastUseOfKey } from "./accounts.ts";
import { allKeys } from "./engines.ts";
import { journalUnits } from "./journal.ts";
import { leaseUnit } from "./leases.ts";
import { linkUnits } from "./links.ts";
import { placesOfRecords, placesOfRows } from "./places.ts";
import { requestUnit } from "./requests.ts";
import { recordUnit, type Unit } from "./unit.ts";

/** After the units that their rows refer to. */
const units: ReadonlyArray<Unit> = [
  ...accountUnits,
  ...linkUnits,
  ...recordTypes.map((type) => recordUnit(type, type === keyRecords ? lastUseOfKey : {})),
  ...journalUnits,
  requestUnit,
  leaseUnit,
];

const rootKey = "root_key";

/** The tables of an SQL storage that are moved. @internal */
export const movedTables: ReadonlyArray<string> = [...units.flatMap(({ tables }) => tables), rootKey];

/** The tables of records that are moved. @internal */
export const movedRecords: ReadonlyArray<string> = units.map(({ name }) => name);

type Show = (done: number, total: number) => Effect.Effect<void>;

const rowsOfPage = 500;

/** The most changes of a row with its parts, such as a scope with blocks whose links are left. */
const changesOfRow = 60;

/** Where a move goes on: behind a record of a unit, or at its end. */
interface Place {
  readonly unit: string;
  readonly after: Tuple | null;
}

const atEnd = "end";

/** Marks a target into which a move is under way. */
const moving = table<Place & { readonly rootKey: string }>()("moving_rows", () => [], {});

/** The units that are left, the first with the key after which it goes on. */
const unitsFrom = (place: Place | null) => {
  const first = place === null ? 0 : units.findIndex(({ name }) => name === place.unit);
  const left = first === -1 ? [] : units.slice(first);
  return left.map((unit, index) => ({ unit, after: index === 0 ? (place?.after ?? null) : null }));
};

/**
 * @param settle runs once both are the same, before the target may be used
 * @internal
 */
export const moveFromRows = Effect.fnUntraced(function* <E = never>(
  rows: StorageRows,
  kv: Kv,
  show: Show,
  settle: Effect.Effect<void, E> = Effect.void,
): Effect.fn.Return<Moved, MoveRefused | StoreUnavailable | E> {
  const db = new Database(kv);
  const [root] = yield* rows.page(rootKey, null, 1);
  if (root === undefined) return yield* MoveRefused.of("emptySource");
  if ((yield* rows.count("erasures")) > 0) return yield* isErasing();
  const wrapped = String(root["wrapped"]);
  const place = yield* begin(db, wrapped);
  const places = yield* placesOfRows(rows);
  let total = 0;
  let done = 0;
  for (const { relation, name } of units) {
    total += yield* rows.count(relation);
    if (place !== null) done += yield* kv.count(rangeOf(name, []));
  }
  for (const { unit, after: from } of unitsFrom(place)) {
    const key = rows.keyOf(unit.relation);
    for (let after = from; ; ) {
      const page = yield* rows.page(unit.relation, after, unit.limit ?? rowsOfPage);
      if (page.length === 0) break;
      const partsOf = yield* partsOfPage(rows, unit, page);
      for (let left = page; left.length > 0; ) {
        const stored = yield* db.write("move", function* (tx) {
          if ((yield* tx.get(moving))?.rootKey !== wrapped) return null;
          const some = Arr.takeWhile(left, (row, index) => {
            if (index > 0 && !tx.hasRoom(0, changesOfRow)) return false;
            unit.insert(tx, row, partsOf(row), places);
            return true;
          });
          const newest = some.at(-1);
          const last = key.map((column) => newest?.[column] as string | number);
          yield* tx.put(moving, { rootKey: wrapped, unit: unit.name, after: last });
          return { count: some.length, last };
        });
        if (stored === null) return yield* MoveRefused.of("otherMove");
        left = left.slice(stored.count);
        after = stored.last;
      }
      done += page.length;
      yield* show(done, total);
    }
  }
  const isWhole = yield* db.write("move", function* (tx) {
    if ((yield* tx.get(moving))?.rootKey !== wrapped) return false;
    yield* tx.put(counts, { name: "accounts", last: places.accounts.size });
    yield* tx.put(moving, { rootKey: wrapped, unit: atEnd, after: null });
    yield* tx.put(kvTable(rootKeys), { id: 1, wrapped });
    return true;
  });
  if (!isWhole) return yield* MoveRefused.of("otherMove");
  const moved = yield* compared(db, rows, "rows");
  if (moved.different.length > 0) return moved;
  yield* settle;
  yield* kv.commit([], [{ key: encode([moving.name]), value: null }]);
  return moved;
});

/**
 * @param settle runs once both are the same, before the target may be used
 * @internal
 */
export const moveToRows = Effect.fnUntraced(function* <E = never>(
  kv: Kv,
  rows: StorageRows,
  show: Show,
  settle: Effect.Effect<void, E> = Effect.void,
): Effect.fn.Return<Moved, MoveRefused | StoreUnavailable | E> {
  const db = new Database(kv);
  const wrapped = yield* rootKeyOf(kv);
  yield* carryOver(db);
  const saved = yield* rows.begin(wrapped);
  const place = saved === null ? null : (JSON.parse(saved) as Place);
  const places = yield* placesOfRecords(db);
  let total = 0;
  let done = 0;
  for (const { name, tables } of units) {
    total += yield* kv.count(rangeOf(name, []));
    if (place !== null) done += yield* rows.count(tables[0] ?? rootKey);
  }
  for (const { unit, after: from } of unitsFrom(place)) {
    for (let after = from; ; ) {
      const page = yield* unit.page(db, places, after, unit.limit ?? rowsOfPage);
      if (page.last === null) break;
      after = page.last;
      yield* rows.insert(page.rows, JSON.stringify({ unit: unit.name, after } satisfies Place));
      done += page.records;
      yield* show(Math.min(done, total), total);
    }
  }
  if (place?.unit !== atEnd) {
    yield* rows.insert({ [rootKey]: [{ id: 1, wrapped }] }, JSON.stringify({ unit: atEnd, after: null }));
  }
  const moved = yield* compared(db, rows, "records");
  if (moved.different.length === 0) yield* Effect.andThen(settle, rows.end);
  return moved;
});

/** Returns the root key of a source whose data can be moved. */
const rootKeyOf = Effect.fnUntraced(function* (kv: Kv) {
  const fault = yield* schemaFault(kv);
  if (fault !== null) return yield* new MoveRefused({ reason: fault });
  const wrapped = yield* readRootKey(kv);
  if (wrapped === null) return yield* MoveRefused.of("emptySource");
  if ((yield* kv.count(rangeOf(erasures.name, []))) > 0) return yield* isErasing();
  return wrapped;
});

/** The place of an account's entries is known from the end of its owner's erasure on. */
const isErasing = () =>
  new MoveRefused({ reason: "the erasure of a user is not finished, expected a server to end it first" });

/** Marks an empty target, or finds the place of an earlier attempt. */
const begin = Effect.fnUntraced(function* (db: Database, wrapped: string) {
  const saved = yield* db.read((tx) => tx.get(moving));
  if (saved === undefined) {
    if ((yield* db.kv.count(allKeys)) > 0) return yield* MoveRefused.of("usedTarget");
    const started = { rootKey: wrapped, unit: units[0]?.name ?? atEnd, after: null };
    if (!(yield* db.write("move", (tx) => tx.create(moving, started))))
      return yield* MoveRefused.of("otherMove");
  } else if (saved.rootKey !== wrapped) return yield* MoveRefused.of("otherTarget");
  yield* Effect.orDie(claimSchema(db.kv));
  return saved ?? null;
});

/** Finds the parts of the rows of a page, and returns the parts of each row. */
const partsOfPage = Effect.fnUntraced(function* (
  rows: StorageRows,
  { part }: Unit,
  page: ReadonlyArray<Row>,
): Effect.fn.Return<(row: Row) => ReadonlyArray<Row>, StoreUnavailable> {
  if (part === undefined) return () => [];
  const { table: relation, by } = part;
  const owners = page.map((row) => [row[by] ?? null]);
  const found = groupBy(yield* rows.find(relation, [by], owners), (row) => row[by]);
  return (row) => found.get(row[by]) ?? [];
});

/** Compares every record with its rows. */
const compared = Effect.fnUntraced(function* (db: Database, rows: StorageRows, source: "rows" | "records") {
  const places = yield* placesOfRecords(db);
  const found = new Map(movedTables.map((name) => [name, 0]));
  const differing = new Set<string>();
  for (const unit of units) {
    for (let after: Tuple | null = null; ; ) {
      const page: Effect.Success<ReturnType<Unit["page"]>> = yield* unit.page(
        db,
        places,
        after,
        unit.limit ?? rowsOfPage,
      );
      if (page.last === null) break;
      after = page.last;
      for (const [name, expected] of Object.entries(page.rows)) {
        found.set(name, (found.get(name) ?? 0) + expected.length);
        for (const some of Arr.chunksOf(expected, rowsOfPage)) {
          if (!(yield* areStored(rows, name, some, unit.uncompared ?? []))) differing.add(name);
        }
      }
    }
  }
  found.set(rootKey, 1);
  const tables: Record<string, number> = {};
  const different: Array<Moved["different"][number]> = [];
  for (const [name, ofRecords] of found) {
    const ofRows = yield* rows.count(name);
    tables[name] = ofRecords;
    if (ofRows === ofRecords && !differing.has(name)) continue;
    const [ofSource, ofTarget] = source === "rows" ? [ofRows, ofRecords] : [ofRecords, ofRows];
    different.push({ table: name, source: ofSource, target: ofTarget });
  }
  return { tables, different } satisfies Moved;
});

const areStored = Effect.fnUntraced(function* (
  rows: StorageRows,
  name: string,
  expected: ReadonlyArray<Row>,
  uncompared: ReadonlyArray<string>,
) {
  const key = rows.keyOf(name);
  const keyIn = (row: Row) => key.map((column) => row[column] ?? null);
  const stored = yield* rows.find(name, key, expected.map(keyIn));
  const byKey = new Map(stored.map((row) => [JSON.stringify(keyIn(row)), row]));
  return expected.every((row) => {
    const other = byKey.get(JSON.stringify(keyIn(row)));
    return Object.entries(row).every(
      ([column, value]) => uncompared.includes(column) || isSame(value, other?.[column]),
    );
  });
});

/** JSON that another release wrote may have another form. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (isJson(one) && isJson(other) && formOf(one) === formOf(other));

const isJson = (value: unknown): value is string => typeof value === "string" && /^[[{]/.test(value);

const formOf = (text: string): string => JSON.stringify(JSON.parse(text));
