/** The SQL of types of records. */
import {
  type KeyPart,
  type ListOptions,
  type Merging,
  type RecordIndex,
  type RecordType,
  snakeCase,
} from "@accountlink/core/records";
import { Function, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { castJson, dialectOf } from "./statements/dialect.ts";
import { tableOf } from "./statements/row.ts";

type Column = Schema.Codec<unknown, unknown>;

/** The statements of a type are constant texts, with `?` for values: a template takes as long to build as SQLite to run. */
const makeTable = ({ name, fields, json, columns, key }: RecordType) => {
  const types: Record<string, Column> = { ...fields };
  for (const [field, codec] of Object.entries(fields)) {
    if (codec === Schema.Boolean) types[field] = Schema.BooleanFromBit;
  }
  for (const field of json) types[field] = Schema.NullOr(Schema.fromJsonString(fields[field] as Column));
  const { rowOf, reader } = tableOf(name, types as Readonly<Record<string, Schema.Codec<unknown>>>, columns);
  const all = Object.values(columns);
  const keyColumns = key.map((field) => columns[field] as string);
  const isKey = keyColumns.map((column) => `${column} = ?`).join(" AND ") || "1 = 1";
  const list = all.join(", ");
  const nullable = new Set(
    Object.entries(fields).flatMap(([field, codec]) =>
      Schema.is(codec)(null) ? [columns[field] as string] : [],
    ),
  );
  const isOneOf = (count: number, behind = key) => {
    // Postgres takes an untyped parameter of VALUES for text.
    const one = `(${behind.map((field) => (Schema.is(fields[field] as Column)(0) ? "CAST(? AS BIGINT)" : "?")).join(", ")})`;
    return `(${behind.map((field) => columns[field]).join(", ")}) IN (VALUES ${Array.from({ length: count }, () => one).join(", ")})`;
  };
  const one = marks(all);
  const insert = `INSERT INTO ${name} (${list}) VALUES ${one}`;
  const replacing = ({ sums = [], kept = [], latest }: Merging = {}) => {
    const set = Object.entries(columns).flatMap(([field, column]) =>
      kept.includes(field)
        ? []
        : [`${column} = ${sums.includes(field) ? `${name}.${column} + ` : ""}excluded.${column}`],
    );
    const column = latest && columns[latest];
    const isLatest = column === undefined ? "" : ` WHERE excluded.${column} >= ${name}.${column}`;
    return `ON CONFLICT (${keyColumns.join(", ")}) DO UPDATE SET ${set.join(", ")}${isLatest}`;
  };
  const replace = replacing();
  return {
    types,
    keyColumns,
    nullable,
    list,
    isKey,
    select: `SELECT ${list} FROM ${name}`,
    insert,
    insertFree: `${insert} ON CONFLICT DO NOTHING RETURNING 1`,
    upsert: `${insert} ${replace}`,
    upsertAll: (count: number, merging?: Merging) =>
      `${insert}${`, ${one}`.repeat(count - 1)} ${merging === undefined ? replace : replacing(merging)}`,
    remove: `DELETE FROM ${name} WHERE ${isKey} RETURNING ${list}`,
    removeAll: (count: number, behind = key) =>
      `DELETE FROM ${name} WHERE ${isOneOf(count, behind)} RETURNING ${list}`,
    isOneOf,
    read: reader(),
    valuesOf: (record: object): ReadonlyArray<unknown> => {
      const values: Record<string, unknown> = { ...record };
      for (const field of json) if (values[field] !== null) values[field] = JSON.stringify(values[field]);
      return Object.values(rowOf(values));
    },
  };
};

/** The table of a type of records. */
export const tableFor = Function.memoize(makeTable);

export const keyColumnsOf = (type: RecordType): ReadonlyArray<string> => tableFor(type).keyColumns;

export const columnOf = ({ columns }: RecordType, field: string): string =>
  columns[field.replace("-", "")] as string;

const isEqual = (column: string) => `${column} = ?`;

/** The condition that an index has a record. Of one value, SQLite finds an index only by `=`. */
export const isOnly = (type: RecordType, only: NonNullable<RecordIndex["only"]>): string => {
  const column = columnOf(type, only.field);
  if ("has" in only) return `${column} ->> '${only.has}' IS NOT NULL`;
  const values = only.values.map((value) => `'${value}'`).join(", ");
  return only.values.length === 1 ? `${column} = ${values}` : `${column} IN (${values})`;
};

/** A list of as many values. */
export const marks = (values: ReadonlyArray<unknown>): string => `(${values.map(() => "?").join(", ")})`;

/** The condition that records are in an index behind a prefix and within bounds, and its values. */
export const placeIn = (
  { type, either, fields, only }: RecordIndex,
  prefix: ReadonlyArray<KeyPart>,
  { before, after }: ListOptions = {},
  firsts: ReadonlyArray<string> = either ?? [],
) => {
  const rest = either === undefined ? prefix : prefix.slice(1);
  const columns = fields.map((field) => columnOf(type, field));
  const left = columns.slice(rest.length);
  const isDescending = fields[rest.length]?.startsWith("-") === true;
  const boundOf = ({ length }: ReadonlyArray<KeyPart>) => `(${left.slice(0, length).join(", ")})`;
  const conditions = [
    ...(firsts.length === 0
      ? []
      : [`(${firsts.map((field) => isEqual(columnOf(type, field))).join(" OR ")})`]),
    ...columns.slice(0, rest.length).map(isEqual),
    ...left.filter((column) => tableFor(type).nullable.has(column)).map((column) => `${column} IS NOT NULL`),
    ...(only === undefined ? [] : [isOnly(type, only)]),
    ...(before === undefined ? [] : [`${boundOf(before)} ${isDescending ? ">" : "<"} ${marks(before)}`]),
    ...(after === undefined ? [] : [`${boundOf(after)} ${isDescending ? "<" : ">"} ${marks(after)}`]),
  ];
  return {
    where: conditions.length === 0 ? "1 = 1" : conditions.join(" AND "),
    values: [...firsts.map(() => prefix[0]), ...rest, ...(before ?? []), ...(after ?? [])],
  };
};

/** The order of an index, up to the last field of the key: no two records differ only behind it. */
export const orderOf = ({ type, fields }: RecordIndex, reverse = false): string => {
  const places = type.key.map((field) => fields.findIndex((name) => name.replace("-", "") === field));
  const sorting = places.includes(-1) ? fields : fields.slice(0, Math.max(...places) + 1);
  return sorting
    .map((field) => `${columnOf(type, field)}${field.startsWith("-") === reverse ? "" : " DESC"}`)
    .join(", ");
};

export const pageOf = (index: RecordIndex, { limit, reverse }: ListOptions): string =>
  `ORDER BY ${orderOf(index, reverse)}${limitOf(limit)}`;

export const limitOf = (limit: number | undefined): string => (limit === undefined ? "" : ` LIMIT ${limit}`);

export const listIn = (
  index: RecordIndex,
  prefix: ReadonlyArray<KeyPart>,
  options: ListOptions,
  first?: ReadonlyArray<string>,
  isOfSqlite = false,
) => {
  const { type, name, isNamed } = index;
  const { where, values } = placeIn(index, prefix, options, first);
  const by = isOfSqlite && isNamed === true ? ` INDEXED BY ${type.name}_${snakeCase(name)}` : "";
  return { text: `${tableFor(type).select}${by} WHERE ${where} ${pageOf(index, options)}`, values };
};

/** `placeIn` behind a prefix that is an element of JSON, and the values of what follows the prefix. */
export const placeInElement = (
  index: RecordIndex,
  [prefix = []]: ReadonlyArray<ReadonlyArray<string>>,
  options: ListOptions,
  first?: ReadonlyArray<string>,
) => {
  let part = 0;
  const { where, values } = placeIn(index, prefix, options, first);
  const isBehind = where.replaceAll("?", (mark) => (part < prefix.length ? `(value ->> ${part++})` : mark));
  return { isBehind, values: values.slice(prefix.length) };
};

/** Returns a function that runs a text with `?` for values. */
export const runOn = (sql: SqlClient.SqlClient) => {
  const { isRemote } = dialectOf(sql);
  return <R extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values: ReadonlyArray<unknown>,
  ) => sql.unsafe<R>(isRemote ? numbered(text) : text, values);
};

/** Replaces each `?` by `$1`, `$2` and so on. */
const numbered = (text: string): string => {
  let at = 0;
  return castJson(text.replaceAll("?", () => `$${++at}`));
};
