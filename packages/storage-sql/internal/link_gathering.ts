/**
 * Look-ups of one turn of the event loop in one statement. A look-up never joins a statement that was sent before it
 * began: so it sees every write that was answered by then.
 */
import type { ChatId, Pid } from "@accountlink/core";
import { Effect, Exit, Request, RequestResolver } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";

/** A row of `links` that names its key. */
interface Found extends SqlConnection.Row {
  readonly pid: string;
  readonly chat_id: string;
}

class Lookup extends Request.Class<
  { readonly pid: Pid; readonly chatId: ChatId },
  ReadonlyArray<Found>,
  SqlError.SqlError
> {}

/** How many look-ups there are in a statement at most. */
const mostLookups = 500;

/**
 * Gives the rows of each look-up by itself, so that a damaged row is only told to who asked for it.
 *
 * @param ask gives the rows of all pairs, no two of which are the same
 */
export const gathered = (
  ask: (
    pairs: ReadonlyArray<readonly [Pid, ChatId]>,
  ) => Effect.Effect<ReadonlyArray<Found>, SqlError.SqlError>,
): ((pid: Pid, chatId: ChatId) => Effect.Effect<ReadonlyArray<Found>, SqlError.SqlError>) => {
  const resolver = RequestResolver.make<Lookup>((entries) => {
    const pairs = new Map(
      entries.map(({ request: { pid, chatId } }) => [keyOf(pid, chatId), [pid, chatId] as const]),
    );
    return Effect.map(ask([...pairs.values()]), (rows) => {
      const found = Map.groupBy(rows, ({ pid, chat_id }) => keyOf(pid, chat_id));
      for (const entry of entries) {
        const { pid, chatId } = entry.request;
        entry.completeUnsafe(Exit.succeed(found.get(keyOf(pid, chatId)) ?? []));
      }
    });
  }).pipe(RequestResolver.batchN(mostLookups));
  return (pid, chatId) => Effect.request(new Lookup({ pid, chatId }), resolver);
};

const keyOf = (pid: string, chatId: string): string => `${pid} ${chatId}`;
