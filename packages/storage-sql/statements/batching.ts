/**
 * Combines the look-ups of one turn of the event loop into one statement. A look-up never joins a
 * statement that was already sent, so it sees every write that was answered before it.
 */
import { groupBy } from "@accountlink/core/group_by";
import { Context, Effect, Exit, Option, Request, RequestResolver, Tracer } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";

type Found<Row> = Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>;

const maxBatchSize = 500;

/**
 * Returns a look-up that gives the rows of its own key alone, so that a damaged row fails no other.
 *
 * @param columns the columns with the key
 * @param query gives the rows of several distinct keys
 */
export const batched = <Key extends ReadonlyArray<string>, Row extends object = SqlConnection.Row>(
  columns: { readonly [Part in keyof Key]: keyof Row },
  query: (keys: ReadonlyArray<Key>) => Found<Row>,
): ((...key: Key) => Found<Row>) => {
  class Lookup extends Request.Class<{ readonly key: Key }, ReadonlyArray<Row>, SqlError.SqlError> {}
  const nameIn = (row: Row) => nameOf(columns.map((column) => row[column]));

  const resolver = RequestResolver.make<Lookup>((entries) => {
    const keys = new Map(entries.map(({ request: { key } }) => [nameOf(key), key]));
    return Effect.map(withSpanLinks(entries, query([...keys.values()])), (rows) => {
      const found = groupBy(rows, nameIn);
      for (const entry of entries) {
        entry.completeUnsafe(Exit.succeed(found.get(nameOf(entry.request.key)) ?? []));
      }
    });
  }).pipe(RequestResolver.batchN(maxBatchSize));
  return (...key) => Effect.request(new Lookup({ key }), resolver);
};

/** The statement runs in the span of the first request, with links to the spans of the others. */
export const withSpanLinks = <A, E>(
  entries: ReadonlyArray<Request.Entry<Request.Any>>,
  statement: Effect.Effect<A, E>,
): Effect.Effect<A, E> => {
  const [first, ...others] = entries;
  const isTraced =
    first !== undefined && Context.getOrUndefined(first.context, Tracer.ParentSpan) !== undefined;
  if (!isTraced || others.length === 0) return statement;
  const spans = others.flatMap(({ context }) =>
    Option.toArray(Context.getOption(context, Tracer.ParentSpan)),
  );
  return Effect.linkSpans(statement, spans);
};

/** Unambiguous, since stored text has no NUL. */
const nameOf = (key: ReadonlyArray<unknown>): string => key.join("\0");
