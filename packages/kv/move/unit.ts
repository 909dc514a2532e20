/** How rows of an SQL storage and records of this one stand for each other. */
import type { Row, RowValue } from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import { accountId, type RecordType } from "@accountlink/core/records";
import { Effect, Schema } from "effect";
import type { Tuple } from "../keys.ts";
import { kvTable } from "../record_tables.ts";
import type { OfEpoch } from "../stores/scopes.ts";
import type { Table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { at, epochOf, isOfEpoch, type Places } from "./places.ts";

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

interface Place<R> {
  readonly records: Table<R>;
  /** The table of its rows. */
  readonly relation: string;
}

interface Definition<R extends object> extends Place<R> {
  readonly columns: Readonly<Record<string, Column<R>>>;
  /** The start of the keys of its records, if others are in their table. */
  readonly prefix?: Tuple;
  /** The fields that follow from no single column. Fields of an object are added to it. */
  readonly fields?: (row: Row, places: Places) => object;
  /** The columns that follow from no single field. */
  readonly row?: (record: R, places: Places) => Row;
  /** Stores what other tables have of the row. */
  readonly also?: (tx: Transaction, record: R, row: Row, places: Places) => StoreEffect<unknown>;
  /** Whether the record is moved: not if its scope's data was deleted since. */
  readonly isKept?: (record: R, places: Places) => boolean;
  /** The most records of a page, if they are large. */
  readonly limit?: number;
}

/** Rows that are part of a record, which has a row of its own. */
interface PartDefinition<R extends object> extends Place<R> {
  readonly idOf: (row: Row) => Tuple;
  readonly rowsOf: (record: R) => ReadonlyArray<Row>;
  /** Adds a row to the record, which may have it. */
  readonly add: (record: R | undefined, row: Row) => R;
}

/** A definition without the type of its records. */
export interface Unit {
  readonly relation: string;
  readonly records: Table<object>;
  readonly prefix: Tuple;
  readonly limit: number;
  /** Whether each record has a row. */
  readonly isWhole: boolean;
  readonly idOf: (row: Row, places: Places) => Tuple;
  readonly rowsOf: (record: object, places: Places) => ReadonlyArray<Row>;
  readonly insert: (tx: Transaction, row: Row, places: Places) => StoreEffect<unknown>;
}

const recordsOfPage = 500;

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
  const { records, relation, columns, fields, also, row: rowOf, isKept } = definition;
  const mapped = Object.entries(columns).map(([column, spec]) => {
    const [codec, path] = typeof spec === "string" ? (["plain", spec] as const) : spec;
    return { column, path, ...codecs[codec] };
  });

  const recordOf = (row: Row, places: Places): R => {
    const record: Fields = {};
    for (const { column, path, decode } of mapped) setField(record, path, decode(row[column] ?? null));
    for (const [name, value] of Object.entries(fields?.(row, places) ?? {})) {
      record[name] = isObject(value) && isObject(record[name]) ? { ...record[name], ...value } : value;
    }
    return record as R;
  };

  const made = {
    records,
    relation,
    prefix: definition.prefix ?? [],
    limit: definition.limit ?? recordsOfPage,
    isWhole: true,
    idOf: (row: Row, places: Places) => records.id(recordOf(row, places)),
    rowsOf: (record: R, places: Places) => {
      if (isKept?.(record, places) === false) return [];
      const own: Record<string, RowValue> = {};
      for (const { column, path, encode } of mapped) own[column] = encode(fieldAt(record, path));
      return [{ ...own, ...rowOf?.(record, places) }];
    },
    insert: (tx: Transaction, row: Row, places: Places) => {
      const record = recordOf(row, places);
      tx.insert(records, record);
      return also?.(tx, record, row, places) ?? Effect.void;
    },
  };
  return made as unknown as Unit;
};

export const partUnit = <R extends object>({ add, ...definition }: PartDefinition<R>): Unit => {
  const { records, idOf } = definition;
  const made = {
    ...definition,
    prefix: [],
    limit: recordsOfPage,
    isWhole: false,
    insert: (tx: Transaction, row: Row) =>
      Effect.flatMap(tx.get(records, ...idOf(row)), (record) => tx.put(records, add(record, row))),
  };
  return made as unknown as Unit;
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
    fields: ({ pid, account }, places) => ({
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
