/**
 * From rows to values. The columns guarantee their types when they are written, but a damaged page can give back
 * anything: a row that cannot be one of ours is a failure, never an answer.
 */
import { Data, Effect, Option, Schema } from "effect";

/** A row holds what no write of ours has left in it. Its values are not told: they may be addresses. */
export class UnreadableRow extends Data.TaggedError("UnreadableRow")<{ readonly table: string }> {
  override readonly message = `Cannot read a row of "${this.table}": it holds what was never written to it`;
}

/** Reads the rows of a table; `read` gives undefined for one that it cannot read. */
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

/** Reads the rows of a table by their schema, and makes of each what it stands for. */
export const schemaReaderOf = <Columns, A>(
  table: string,
  schema: Schema.Decoder<Columns>,
  make: (columns: Columns) => A,
) => {
  const decode = Schema.decodeUnknownOption(schema);
  return readerOf(table, (row: unknown) => Option.getOrUndefined(Option.map(decode(row), make)));
};

/** One of the members of a union of strings, every one of which has to be named. */
export const literalsOf = <Member extends string>(members: Readonly<Record<Member, true>>) =>
  Schema.Literals(Object.keys(members) as Array<Member>);
