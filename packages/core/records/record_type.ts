/** Types of records that every storage keeps: their fields, their key, and the indexes by which they are found. */
import { Schema } from "effect";

type Fields = Readonly<Record<string, Schema.Codec<unknown, unknown>>>;

/** An index, which has the records whose fields in it are not null. */
interface IndexOptions<F extends string> {
  /** Two fields that precede `fields`. The index has an entry for the value of each. */
  readonly either?: readonly [F, F];
  /** The fields by which the index sorts. A `-` before a name: the greatest value first. */
  readonly fields: ReadonlyArray<F | `-${F}`>;
  /** The number of leading fields by which writes read the index. Writes that change what one has read run again. */
  readonly group?: number;
}

export interface RecordIndex<out R extends object = object> extends IndexOptions<string> {
  readonly name: string;
  readonly type: RecordType<R>;
}

/** The index by which an erasure of a user finds the records to delete, and how it counts them; null: not at all. */
interface OfUser<Index> {
  readonly index: Index;
  readonly erasedAs: "reviews" | null;
}

export interface RecordType<out R extends object = object> {
  /** The type of the records. Has no value. */
  readonly Type?: R;
  /** The name of its table in every storage. */
  readonly name: string;
  readonly fields: Fields;
  /** The fields that SQL keeps as JSON. */
  readonly json: ReadonlyArray<string>;
  /** The columns of the fields in SQL: their names in snake case, unless the type names another. */
  readonly columns: Readonly<Record<string, string>>;
  readonly key: ReadonlyArray<string>;
  readonly indexes: Readonly<Record<string, RecordIndex<R>>>;
  /** Whether a deletion of its scope's data deletes the record. Its key begins with `pid`, as one of its indexes does. */
  readonly isOfScope: boolean;
  readonly ofUser: OfUser<RecordIndex<R>> | null;
}

/** The records of a type. */
export type RecordOf<T extends RecordType> = NonNullable<T["Type"]>;

/** Declares a type of records, whose indexes are its properties. */
export const recordType = <
  const F extends Fields,
  const Indexes extends Readonly<Record<string, IndexOptions<keyof F & string>>>,
>({
  columns = {},
  indexes,
  ofUser,
  ...options
}: {
  readonly name: string;
  readonly fields: F;
  readonly columns?: { readonly [Field in keyof F]?: string };
  readonly json?: ReadonlyArray<keyof F & string>;
  readonly key: ReadonlyArray<keyof F & string>;
  readonly indexes: Indexes;
  readonly isOfScope?: true;
  readonly ofUser?: OfUser<keyof Indexes & string>;
}) => {
  type R = { readonly [Field in keyof F]: F[Field]["Type"] };
  const named: Record<string, RecordIndex<R>> = {};
  const type = { json: [], isOfScope: false, ofUser: null, ...options, columns: {}, indexes: named };
  for (const [name, index] of Object.entries(indexes)) named[name] = { ...index, name, type };
  return Object.assign(type as RecordType<R>, named as { readonly [Name in keyof Indexes]: RecordIndex<R> }, {
    columns: Object.fromEntries(
      Object.keys(options.fields).map((field) => [field, columns[field] ?? snakeCase(field)]),
    ),
    ...(ofUser && { ofUser: { ...ofUser, index: named[ofUser.index] as RecordIndex<R> } }),
  });
};

const snakeCase = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A schema for branded text that has no schema of its own. The cast is safe, since a brand exists only in types. */
export const textAs = <Text extends string>() => Schema.String as unknown as Schema.Codec<Text, string>;
