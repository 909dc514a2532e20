/**
 * Look-ups of one turn of the event loop in one statement. A look-up never joins a statement that was sent before it
 * began: so it sees every write that was answered by then.
 */
import { Context, Effect, Exit, Option, Request, RequestResolver, Tracer } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";

type Found = Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>;

/** How many look-ups there are in a statement at most. */
const mostLookups = 500;

/**
 * Gives the rows of each look-up by itself, so that a damaged row is only told to who asked for it.
 *
 * @param columns where a row names the key that it was found by
 * @param ask gives the rows of all keys, no two of which are the same
 */
export const gathered = <Key extends ReadonlyArray<string>>(
  columns: { readonly [Part in keyof Key]: string },
  ask: (keys: ReadonlyArray<Key>) => Found,
): ((...key: Key) => Found) => {
  class Lookup extends Request.Class<
    { readonly key: Key },
    ReadonlyArray<SqlConnection.Row>,
    SqlError.SqlError
  > {}
  const nameIn = (row: SqlConnection.Row) => nameOf(columns.map((column) => row[column]));

  const resolver = RequestResolver.make<Lookup>((entries) => {
    const keys = new Map(entries.map(({ request: { key } }) => [nameOf(key), key]));
    return Effect.map(linkedToAll(entries, ask([...keys.values()])), (rows) => {
      const found = Map.groupBy(rows, nameIn);
      for (const entry of entries) {
        entry.completeUnsafe(Exit.succeed(found.get(nameOf(entry.request.key)) ?? []));
      }
    });
  }).pipe(RequestResolver.batchN(mostLookups));
  return (...key) => Effect.request(new Lookup({ key }), resolver);
};

/** The statement runs under the span of the first look-up; links lead to it from the others. */
const linkedToAll = (entries: ReadonlyArray<Request.Entry<Request.Any>>, asked: Found): Found => {
  const [first, ...others] = entries;
  const isTraced =
    first !== undefined && Context.getOrUndefined(first.context, Tracer.ParentSpan) !== undefined;
  if (!isTraced || others.length === 0) return asked;
  const spans = others.flatMap(({ context }) =>
    Option.toArray(Context.getOption(context, Tracer.ParentSpan)),
  );
  return Effect.linkSpans(asked, spans);
};

/** No text that is stored has a NUL in it. */
const nameOf = (key: ReadonlyArray<unknown>): string => key.join("\0");
