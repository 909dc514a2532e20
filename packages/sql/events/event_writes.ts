/**
 * Inserts events into the feed of their scope, and gives them positions.
 *
 * In Postgres, transactions may commit in another order than they began. If a transaction gave its event a position
 * before its commit, a reader could continue after that position before the event is visible, and miss the event. So
 * events are inserted without a position. After the commit, the next reader or sweep gives them positions, only one of
 * them at a time; see docs/consistency.md.
 */
import type { Pid } from "@accountlink/core";
import type { NewEvent } from "@accountlink/core/events";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";

/**
 * Inserts events of one scope in order. On databases where transactions may commit in another order than they began,
 * the events get their positions later.
 */
export const insertEventsStatement = (
  sql: SqlClient.SqlClient,
  pid: Pid,
  events: ReadonlyArray<NewEvent>,
) => {
  const { elements, commitsInOrder } = dialectOf(sql);
  const rows = events.map(({ id, type, at, data }) => [id, type, at, JSON.stringify(data)]);
  const position = commitsInOrder ? sql`${lastPosition(sql, pid)} + key + 1` : sql`CAST(NULL AS BIGINT)`;
  return sql`
    INSERT INTO events (pid, position, id, type, at, data)
    SELECT ${pid}, ${position}, value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT), value ->> 3
    FROM ${elements(JSON.stringify(rows))}`;
};

export const insertEvents = (sql: SqlClient.SqlClient, pid: Pid, events: ReadonlyArray<NewEvent>) => {
  if (events.length === 0) return Effect.void;
  return Effect.andThen(
    Effect.sync(() => assertStorable(textsOf(events))),
    insertEventsStatement(sql, pid, events),
  );
};

const textsOf = (events: ReadonlyArray<NewEvent>): ReadonlyArray<string> =>
  events.flatMap(({ data }) => ("clientId" in data ? [data.clientId] : []));

/** The last position of a scope, even if its event was deleted; 0 if the scope never had an event. */
export const lastPosition = (
  sql: SqlClient.SqlClient,
  pid: Pid | Statement.Fragment,
): Statement.Fragment => sql`COALESCE(
  (SELECT MAX(position) FROM events WHERE pid = ${pid} AND position IS NOT NULL),
  (SELECT position FROM feed_starts WHERE pid = ${pid}),
  0)`;

/** Gives positions to the committed events of a scope that have none. */
export const numberEventsOn = (sql: SqlClient.SqlClient) => {
  const { onlyOne, rowsWritten } = dialectOf(sql);
  const numberSome = Effect.fnUntraced(function* (pid: Pid) {
    yield* sql`SELECT locks FROM ${onlyOne(`events:${pid}`)}`;
    // A separate statement sees the positions that others stored while this transaction waited for the lock. ORDER BY
    // sequence keeps the events of a chat user in order, because each write locks the user's record before it inserts
    // events.
    const numbered = sql`
      UPDATE events SET position = ordered.position
      FROM (
        SELECT sequence, ${lastPosition(sql, pid)} + ROW_NUMBER() OVER (ORDER BY sequence) AS position
        FROM (
          SELECT sequence FROM events WHERE pid = ${pid} AND position IS NULL
          ORDER BY sequence LIMIT ${batchSize} FOR UPDATE
        ) AS unnumbered
      ) AS ordered
      WHERE events.sequence = ordered.sequence`;
    return rowsWritten(yield* numbered.raw);
  }, sql.withTransaction);
  return (pid: Pid) => inBatches(numberSome(pid));
};
