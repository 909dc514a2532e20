/**
 * Decodes rows. The columns have types, but a damaged page can contain anything: an invalid row is a failure, never
 * an answer.
 */
import { snakeCase } from "@accountlink/core/records";
import { Data, Effect, Option, Schema } from "effect";
import { Statement } from "effect/sql";

/** A row is invalid. The error omits the values of the row, since they may be IP addresses. */
export class UnreadableRow extends Data.TaggedError("UnreadableRow")<{ readonly table: string }> {
  override readonly message = `Cannot read a row of "${this.table}": its values are invalid`;
}

/** How many rows are decoded at once, about a millisecond. Other work goes on before the next ones. */
const rowsAtOnce = 100;

/**
 * Returns a function that runs a statement, and decodes the rows of a table that it returns. `read` returns undefined
 * for an invalid row.
 */
export const readerOf = <Row, A>(table: string, read: (row: Row) => A | undefined) => {
  const unreadable = Effect.suspend(() => Effect.fail(new UnreadableRow({ table })));

  /** Returns false for an invalid row. */
  const decode = (rows: ReadonlyArray<Row>, values: Array<A>): boolean => {
    for (const row of rows) {
      const value = read(row);
      if (value === undefined) return false;
      values.push(value);
    }
    return true;
  };

  const decodeInSteps = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>, values: Array<A>) {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      if (from > 0) yield* Effect.yieldNow;
      if (!decode(rows.slice(from, from + rowsAtOnce), values)) return yield* unreadable;
    }
    return values;
  });

  return <E>(
    statement: Effect.Effect<ReadonlyArray<Row>, E>,
  ): Effect.Effect<ReadonlyArray<A>, E | UnreadableRow> =>
    Effect.flatMap(statement, (rows): Effect.Effect<ReadonlyArray<A>, UnreadableRow> => {
      const values: Array<A> = [];
      if (rows.length > rowsAtOnce) return decodeInSteps(rows, values);
      return decode(rows, values) ? Effect.succeed(values) : unreadable;
    });
};

/** Decodes the rows of a table by a schema, and converts each row with `make`, if given. */
export const schemaReaderOf = <Columns, A = Columns>(
  table: string,
  schema: Schema.Decoder<Columns>,
  make: (columns: Columns) => A = (columns) => columns as unknown as A,
) => {
  const decode = Schema.decodeUnknownOption(schema);
  return readerOf(table, (row: unknown) => Option.getOrUndefined(Option.map(decode(row), make)));
};

export const columnReader = <A>(table: string, column: string, type: Schema.Codec<A, unknown>) =>
  schemaReaderOf(table, Schema.Struct({ [column]: type }), (row) => row[column] as A);

export const literalSql = (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)]);

type Fields = Readonly<Record<string, Schema.Codec<unknown>>>;

export type ValuesOf<F extends Fields> = { readonly [Field in keyof F]: F[Field]["Type"] };

/**
 * A table whose columns are the fields of a record in snake case.
 *
 * @param names the columns with other names, by field
 */
export const tableOf = <const F extends Fields>(
  table: string,
  fields: F,
  names: { readonly [Field in keyof F]?: string } = {},
) => {
  const columns = Object.entries(fields).map(([field, type]) => ({
    field,
    name: names[field] ?? snakeCase(field),
    type,
  }));
  const schema = Schema.Struct(Object.fromEntries(columns.map(({ name, type }) => [name, type])));

  const valuesIn = (row: Readonly<Record<string, unknown>>) => {
    const values: Record<string, unknown> = {};
    for (const { field, name } of columns) values[field] = row[name];
    return values as ValuesOf<F>;
  };

  return {
    columns: literalSql(columns.map(({ name }) => name).join(", ")),

    rowOf: (values: { readonly [Field in keyof F]: F[Field]["Type"] | F[Field]["Encoded"] }) => {
      const row: Record<string, unknown> = {};
      for (const { field, name } of columns) {
        const value = values[field];
        row[name] = typeof value === "boolean" ? Number(value) : value;
      }
      return row;
    },

    /** Decodes rows, and makes a record of the values of each row. Without `make`, the values are the record. */
    reader: <A = ValuesOf<F>>(make: (values: ValuesOf<F>) => A = (values) => values as A) =>
      schemaReaderOf(table, schema, (row) => make(valuesIn(row))),
  };
};

export const OptionalInt = Schema.NullOr(Schema.Int);
export const OptionalText = Schema.NullOr(Schema.String);

/** The schema of a union of strings; the compiler checks that every member is listed. */
export const literalsOf = <Member extends string>(members: Readonly<Record<Member, true>>) =>
  Schema.Literals(Object.keys(members) as Array<Member>);
