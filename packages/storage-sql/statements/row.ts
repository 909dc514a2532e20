/**
 * Decodes rows. The columns have types, but a damaged page can hold anything: an invalid row is a
 * failure, never an answer.
 */
import { Data, Effect, Option, Schema } from "effect";

/** A row is invalid. Its values are left out, since they may be addresses. */
export class UnreadableRow extends Data.TaggedError("UnreadableRow")<{ readonly table: string }> {
  override readonly message = `Cannot read a row of "${this.table}": its values are invalid`;
}

/** Decodes the rows of a table; `read` returns undefined for an invalid row. */
export const readerOf =
  <Row, A>(table: string, read: (row: Row) => A | undefined) =>
  (rows: ReadonlyArray<Row>): Effect.Effect<ReadonlyArray<A>, UnreadableRow> => {
    const values: Array<A> = [];
    for (const row of rows) {
      const value = read(row);
      if (value === undefined) return Effect.fail(new UnreadableRow({ table }));
      values.push(value);
    }
    return Effect.succeed(values);
  };

/** Decodes the rows of a table by a schema, and maps them. */
export const schemaReaderOf = <Columns, A>(
  table: string,
  schema: Schema.Decoder<Columns>,
  make: (columns: Columns) => A,
) => {
  const decode = Schema.decodeUnknownOption(schema);
  return readerOf(table, (row: unknown) => Option.getOrUndefined(Option.map(decode(row), make)));
};

/** The schema of a union of strings; the compiler checks that every member is listed. */
export const literalsOf = <Member extends string>(members: Readonly<Record<Member, true>>) =>
  Schema.Literals(Object.keys(members) as Array<Member>);
