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
  /** Whether no two records of the index have the same values in the fields of its `group`. `claim` heeds that. */
  readonly isUnique?: true;
  /** Whether SQLite is told its name: in the order of the key, it would read all records with the first fields of the key. */
  readonly isNamed?: true;
  /** Whether reads by its first field, a text, share a statement where each statement is a way to a server. */
  readonly isBatched?: true;
  /**
   * A field of text and its values in the records of the index, or a field of `json` and what of it is not null there.
   * All records if left out.
   */
  readonly only?:
    | { readonly field: F; readonly values: ReadonlyArray<string> }
    | { readonly field: F; readonly has: string };
}

export interface RecordIndex<out R extends object = object> extends IndexOptions<string> {
  readonly name: string;
  readonly type: RecordType<R>;
}

/** The index by which an erasure of a user finds the records to delete, and as what it counts one; null: not at all. */
export interface OfUser<Index> {
  readonly index: Index;
  readonly erasedAs: ((record: never) => "reviews" | "sightings" | "browsers") | null;
}

/** How a user's download names the user's records, and which fields it has. Other types have forms of their own there. */
export interface Download<Index, Field extends string = string> {
  readonly index: Index;
  readonly as: string;
  readonly fields: ReadonlyArray<Field>;
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
  /** None if there is one record at most. */
  readonly key: ReadonlyArray<string>;
  /**
   * The number of leading fields of the key by which writes list. What a write reads of such a group is checked as a whole.
   * Writes do not list by the key if it is left out.
   */
  readonly group?: number;
  readonly byKey: RecordIndex<R>;
  readonly indexes: Readonly<Record<string, RecordIndex<R>>>;
  /** Whether a deletion of its scope's data deletes the record. Its key begins with `pid`, as one of its indexes does. */
  readonly isOfScope: boolean;
  readonly ofUser: OfUser<RecordIndex<R>> | null;
  readonly download: Download<RecordIndex<R>> | null;
  /** Whether a record may have hundreds of kilobytes: moves carry such records one by one. */
  readonly isLarge: boolean;
  /** Whether the records of an account can be listed, as the records of a scope can. */
  readonly isOfAccount: boolean;
  /** For records on which nodes work. */
  readonly held: Held<RecordIndex<R>> | null;
}

/** How nodes share records. */
export interface Held<Index, F extends string = string> {
  /** The index by the field `holder`. Records that its `only` leaves out need no node. */
  readonly index: Index;
  /** The table of nodes in SQL. */
  readonly nodes: string;
  /** A field in which records that need a node differ: the first one of the key if left out. */
  readonly key?: F;
}

export type RecordOf<T extends RecordType> = NonNullable<T["Type"]>;

/** An index named as another property of the type would hide that one. */
type NoOtherProperty = { readonly [Name in keyof RecordType]?: never };

/** Declares a type of records, whose indexes are its properties. @internal */
export const recordType = <
  const F extends Fields,
  const Indexes extends Readonly<Record<string, IndexOptions<keyof F & string>>> & NoOtherProperty,
>({
  columns = {},
  indexes,
  ofUser,
  download,
  held,
  ...options
}: {
  readonly name: string;
  readonly fields: F;
  readonly columns?: { readonly [Field in keyof F]?: string };
  readonly json?: ReadonlyArray<keyof F & string>;
  readonly key: ReadonlyArray<keyof F & string>;
  readonly group?: number;
  readonly indexes: Indexes;
  readonly isOfScope?: true;
  readonly ofUser?: OfUser<keyof Indexes & string>;
  readonly download?: Download<keyof Indexes & string, keyof F & string>;
  readonly isOfAccount?: true;
  readonly isLarge?: true;
  readonly held?: Held<keyof Indexes & string, keyof F & string>;
}) => {
  type R = { readonly [Field in keyof F]: F[Field]["Type"] };
  const named: Record<string, RecordIndex<R>> = {};
  const type = {
    json: [],
    isOfScope: false,
    isOfAccount: false,
    isLarge: false,
    ...options,
    indexes: named,
  } as unknown as RecordType<R>;
  for (const [name, index] of Object.entries(indexes)) named[name] = { ...index, name, type };
  const at = <Use extends { readonly index: keyof Indexes & string }>(use: Use | undefined) =>
    use === undefined ? null : { ...use, index: named[use.index] };
  return Object.assign(type, named as { readonly [Name in keyof Indexes]: RecordIndex<R> }, {
    columns: Object.fromEntries(
      Object.keys(options.fields).map((field) => [field, columns[field] ?? snakeCase(field)]),
    ),
    byKey: { name: "byKey", type, fields: options.key },
    ofUser: at(ofUser) as OfUser<RecordIndex<R>> | null,
    download: at(download) as Download<RecordIndex<R>> | null,
    held: at(held) as Held<RecordIndex<R>> | null,
  });
};

/** @internal */
export const snakeCase = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A schema for branded text that has no schema of its own. The cast is safe, since a brand exists only in types. @internal */
export const textAs = <Text extends string>() => Schema.String as unknown as Schema.Codec<Text, string>;

/** How a storage names an account in its records: by its name, or by a number that stays when the name changes. */
export type AccountId = string | number;

/** The schema of fields that name an account, which storages know it by. SQL has the name. @internal */
export const accountId = Schema.String.annotate({ identifier: "AccountId" }) as unknown as Schema.Codec<
  AccountId,
  string
>;
