/**
 * Positions of events.
 *
 * In Postgres, a transaction that began later may commit earlier, so a number that it takes before its commit would
 * let readers pass an event that is not there yet. So events are inserted without a position. Who reads a feed first
 * numbers what was committed meanwhile, one reader at a time; see docs/consistency.md.
 */
import type { Pid } from "@accountlink/core";
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";

/** The last position of a scope; 0 for none. */
export const lastPosition = (sql: SqlClient.SqlClient, pid: Pid): Statement.Fragment => sql`COALESCE(
  (SELECT MAX(position) FROM events WHERE pid = ${pid} AND position IS NOT NULL),
  (SELECT position FROM feed_starts WHERE pid = ${pid}),
  0)`;

/** Gives positions to all committed events of a scope that have none. */
export const numberEventsOn = (sql: SqlClient.SqlClient) => {
  const { onlyOne, rowsWritten } = dialectOf(sql);
  const numberSome = Effect.fnUntraced(function* (pid: Pid) {
    yield* sql`SELECT locks FROM ${onlyOne(`events:${pid}`)}`;
    // Another statement, which sees what was numbered while the first one waited. The events of a chat user have the
    // order of their sequences, which are taken under the lock of the record.
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
