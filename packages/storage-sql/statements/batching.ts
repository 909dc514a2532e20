/**
 * Combines the look-ups of one turn of the event loop into one statement. A look-up never joins a
 * statement that was already sent, so it sees every write that was answered before it.
 */
import { groupBy } from "@accountlink/core/group_by";
import { Context, Effect, Exit, Option, Tracer } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";
import { gathered } from "./gathering.ts";

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
  const nameIn = (row: Row) => nameOf(columns.map((column) => row[column]));
  const find = gathered<Key, ReadonlyArray<Row>, SqlError.SqlError>(
    (keys, contexts) => {
      const distinct = new Map(keys.map((key) => [nameOf(key), key]));
      return Effect.map(withSpanLinks(contexts, query([...distinct.values()])), (rows) => {
        const found = groupBy(rows, nameIn);
        return keys.map((key) => Exit.succeed(found.get(nameOf(key)) ?? []));
      });
    },
    { maxSize: maxBatchSize },
  );
  return (...key) => find(key);
};

/** The statement runs in the span of the first request, with links to the spans of the others. */
export const withSpanLinks = <A, E>(
  contexts: ReadonlyArray<Context.Context<never>>,
  statement: Effect.Effect<A, E>,
): Effect.Effect<A, E> => {
  const [first, ...others] = contexts;
  const isTraced = first !== undefined && Context.getOrUndefined(first, Tracer.ParentSpan) !== undefined;
  if (!isTraced || others.length === 0) return statement;
  const spans = others.flatMap((context) => Option.toArray(Context.getOption(context, Tracer.ParentSpan)));
  return Effect.linkSpans(statement, spans);
};

/** Unambiguous, since stored text has no NUL. */
const nameOf = (key: ReadonlyArray<unknown>): string => key.join("\0");
