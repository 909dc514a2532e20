/** The tables of types of records on an engine. */
import {
  type KeyPart,
  keyOf,
  type RecordIndex,
  type RecordOf,
  type RecordType,
} from "@accountlink/core/records";
import { Function } from "effect";
import type { Tuple } from "./keys.ts";
import type { OfEpoch } from "./stores/scopes.ts";
import { type Index, type IndexOptions, type Table, table } from "./table.ts";

export type Values = Readonly<Record<string, KeyPart | null>>;

const valuesOf = (record: object, fields: ReadonlyArray<string>) =>
  fields.map((field) =>
    field.startsWith("-") ? -Number((record as Values)[field.slice(1)]) : (record as Values)[field],
  );

/** The holder in the index of records on which no node works. */
export const nobody = "";

/** Whether the entries of an index have the epoch of the scope after its `pid`. */
export const hasEpoch = ({ type, either, fields: [first] }: RecordIndex): boolean =>
  type.isOfScope && either === undefined && first === "pid";

export const entriesOf = (index: RecordIndex, record: object): ReadonlyArray<Tuple> => {
  const { type, either, fields, only } = index;
  const values = valuesOf(record, fields);
  if (index === type.held?.index) values[0] ??= nobody;
  // Records of earlier releases lack fields of indexes that are new.
  if (values.includes(null) || values.includes(undefined)) return [];
  if (only !== undefined && !isMeant(only, record as Values)) return [];
  if (hasEpoch(index)) values.splice(1, 0, (record as OfEpoch).epoch);
  const named = new Set([...(either ?? []), ...fields.map((field) => field.replace("-", ""))]);
  const rest = valuesOf(
    record,
    type.key.filter((field) => !named.has(field)),
  );
  const firsts =
    either === undefined
      ? [[]]
      : valuesOf(record, either).flatMap((value) => (value === null ? [] : [[value]]));
  return firsts.map((first) => [...first, ...values, ...rest] as Tuple);
};

export const isMeant = (only: NonNullable<RecordIndex["only"]>, record: Values): boolean =>
  "has" in only
    ? ((record[only.field] as unknown as Values)[only.has] ?? null) !== null
    : only.values.includes(record[only.field] as string);

type TableOf<T extends RecordType> = Table<RecordOf<T>> & {
  readonly [Name in keyof T as T[Name] extends RecordIndex ? Name : never]: Index<RecordOf<T>>;
};

/** The index of the records of an account, which have the number of the account besides. */
const ofAccount = "ofAccount";

export interface OfAccount {
  readonly account: number;
}

/**
 * The table of a type of records. A record that a deletion of its scope deletes has the epoch of the scope besides.
 */
export const kvTable = Function.memoize((type: RecordType) => {
  const indexes: Record<string, IndexOptions<object>> = {};
  for (const index of Object.values(type.indexes)) {
    const { name, group } = index;
    indexes[name] = { keys: (record) => entriesOf(index, record), ...(group !== undefined && { group }) };
  }
  if (type.isOfAccount) {
    indexes[ofAccount] = {
      keys: (record) => [[(record as OfAccount).account, ...keyOf(type, record)]],
      group: 1,
    };
  }
  return table<object>()(type.name, (record) => keyOf(type, record), indexes, type.group);
}) as unknown as <T extends RecordType>(type: T) => TableOf<T>;

const indexNamed = <R extends object>(type: RecordType<R>, name: string) =>
  (kvTable(type) as unknown as Readonly<Record<string, Index<R>>>)[name] as Index<R>;

export const kvIndex = <R extends object>({ name, type }: RecordIndex<R>) => indexNamed(type, name);

export const indexOfAccount = <R extends object>(type: RecordType<R>) =>
  indexNamed(type as RecordType<R & OfAccount>, ofAccount);

export const indexOfScope = ({ indexes }: RecordType): Index<OfEpoch> =>
  kvIndex(Object.values(indexes).find(hasEpoch) as RecordIndex<OfEpoch>);
