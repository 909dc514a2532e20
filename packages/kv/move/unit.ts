/** How rows of an SQL storage and records of this one stand for each other. */
import type { Row, RowValue } from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import { accountId, type RecordType } from "@accountlink/core/records";
import { Effect, Schema } from "effect";
import type { Database } from "../database.ts";
import type { Tuple } from "../keys.ts";
import { kvTable } from "../record_tables.ts";
import type { OfEpoch } from "../stores/scopes.ts";
import type { Table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { at, epochOf, isOfEpoch, type Places } from "./places.ts";

/** The rows of tables, by their names. */
type Rows = Readonly<Record<string, ReadonlyArray<Row>>>;

/** A field of a record, or a field of one of its objects. */
type Path<R> = {
  [K in keyof R & string]-?:
    | K
    | (NonNullable<R[K]> extends infer Inner
        ? Inner extends object
          ? `${K}.${keyof Inner & string}`
          : never
        : never);
}[keyof R & string];

const codecs = {
  plain: { encode: (value: unknown) => value as RowValue, decode: (value: RowValue): unknown => value },
  flag: { encode: (value: unknown) => Number(value), decode: (value: RowValue): unknown => value === 1 },
  json: {
    encode: (value: unknown) => (value === null ? null : JSON.stringify(value)),
    decode: (value: RowValue): unknown => (value === null ? null : JSON.parse(String(value))),
  },
  /** A field that is left out where a row has null. */
  optional: {
    encode: (value: unknown) => value as RowValue,
    decode: (value: RowValue): unknown => value ?? undefined,
  },
};

/** The field of a column, after its codec if that is not `plain`. */
type Column<R> = Path<R> | readonly [codec: keyof typeof codecs, path: Path<R>];

export interface Definition<R extends object> {
  readonly records: Table<R>;
  /** A table, or a view of `StorageRows` that has no row of its own to write. */
  readonly relation: string;
  readonly columns?: Readonly<Record<string, Column<R>>>;
  /** A table of rows that are part of the record, and the column by which they name the record's own row. */
  readonly part?: { readonly table: string; readonly by: string };
  /** The fields that follow from no single column. Fields of an object are added to it. */
  readonly fields?: (row: Row, parts: ReadonlyArray<Row>, places: Places) => object;
  /** Inserts what other tables have of the row. */
  readonly also?: (tx: Transaction, row: Row) => void;
  /** The columns that follow from no single field. */
  readonly row?: (record: R, places: Places) => Row;
  /** The tables of `rowsOfParts`. */
  readonly partTables?: ReadonlyArray<string>;
  readonly rowsOfParts?: (record: R, places: Places) => Rows;
  /** Whether the record is moved: not if its scope's data was deleted since. */
  readonly isKept?: (record: R, places: Places) => boolean;
  /** Columns that are not compared: another storage may have kept them otherwise. */
  readonly uncompared?: ReadonlyArray<string>;
  /** The most records of a transaction, if they are large. */
  readonly limit?: number;
}

/** A definition without the type of its records. */
export interface Unit extends Pick<Definition<never>, "relation" | "part" | "uncompared" | "limit"> {
  /** The name of the table of records. */
  readonly name: string;
  /** The tables of its rows. */
  readonly tables: ReadonlyArray<string>;
  readonly insert: (tx: Transaction, row: Row, parts: ReadonlyArray<Row>, places: Places) => void;
  /** Reads the rows of records after a key. */
  readonly page: (
    db: Database,
    places: Places,
    after: Tuple | null,
    limit: number,
  ) => StoreEffect<{ readonly rows: Rows; readonly records: number; readonly last: Tuple | null }>;
}

type Fields = Record<string, unknown>;

const fieldAt = (record: object, path: string): unknown => {
  let value: unknown = record;
  for (const name of path.split(".")) value = (value as Fields | null | undefined)?.[name];
  return value ?? null;
};

const setField = (record: Fields, path: string, value: unknown): void => {
  const [name = "", inner] = path.split(".");
  if (value === undefined) return;
  if (inner === undefined) record[name] = value;
  else {
    const object = (record[name] ?? {}) as Fields;
    object[inner] = value;
    record[name] = object;
  }
};

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const unit = <R extends object>(definition: Definition<R>): Unit => {
  const { records, relation, columns = {}, fields, also, row: rowOf, rowsOfParts, isKept } = definition;
  const mapped = Object.entries(columns).map(([column, spec]) => {
    const [codec, path] = typeof spec === "string" ? (["plain", spec] as const) : spec;
    return { column, path, ...codecs[codec] };
  });
  const hasRow = mapped.length > 0;

  const recordOf = (row: Row, parts: ReadonlyArray<Row>, places: Places): R => {
    const record: Fields = {};
    for (const { column, path, decode } of mapped) setField(record, path, decode(row[column] ?? null));
    for (const [name, value] of Object.entries(fields?.(row, parts, places) ?? {})) {
      record[name] = isObject(value) && isObject(record[name]) ? { ...record[name], ...value } : value;
    }
    return record as R;
  };

  const rowsOf = (record: R, places: Places): Rows => {
    const own: Record<string, RowValue> = {};
    for (const { column, path, encode } of mapped) own[column] = encode(fieldAt(record, path));
    return {
      ...(hasRow && { [relation]: [{ ...own, ...rowOf?.(record, places) }] }),
      ...rowsOfParts?.(record, places),
    };
  };

  return {
    ...definition,
    name: records.name,
    tables: [...(hasRow ? [relation] : []), ...(definition.partTables ?? [])],
    insert: (tx, row, parts, places) => {
      tx.insert(records, recordOf(row, parts, places));
      also?.(tx, row);
    },
    page: (db, places, after, limit) =>
      Effect.map(
        db.read((tx) => tx.scan(records, [], { ...(after !== null && { after }), limit })),
        (found) => {
          const rows: Record<string, Array<Row>> = {};
          for (const record of found) {
            if (isKept?.(record, places) === false) continue;
            for (const [table, added] of Object.entries(rowsOf(record, places)))
              (rows[table] ??= []).push(...added);
          }
          const last = found.at(-1);
          return { rows, records: found.length, last: last === undefined ? null : records.id(last) };
        },
      ),
  };
};

const codecOf = ({ json, fields }: RecordType, field: string): keyof typeof codecs => {
  if (json.includes(field)) return "json";
  return fields[field] === Schema.Boolean ? "flag" : "plain";
};

/** The unit of a type of records that is the same in all storages. */
export const recordUnit = (type: RecordType, more: Pick<Definition<never>, "also" | "row"> = {}): Unit => {
  const namesAccount = type.fields["account"] === accountId;
  return unit<object>({
    records: kvTable(type),
    relation: type.name,
    ...(type.isLarge && { limit: 1 }),
    columns: Object.fromEntries(
      Object.entries(type.columns).map(([field, column]) => [column, [codecOf(type, field), field] as never]),
    ),
    fields: ({ pid, account }, _, places) => ({
      ...(namesAccount && { account: at(places.accounts, String(account)).id }),
      ...(type.isOfScope && { epoch: epochOf(places, String(pid)) }),
      ...(type.isOfAccount && { account: at(places.scopes, String(pid)).account }),
    }),
    ...(namesAccount && {
      row: (record: object, places: Places) => ({
        account: at(places.accountsById, (record as { readonly account: number }).account).name,
      }),
    }),
    ...(type.isOfScope && {
      isKept: (record: object, places: Places) => isOfEpoch(record as OfEpoch, places),
    }),
    ...(more as object),
  });
};
