/**
 * Gives records their positions in their place, which are the positions of events in the feed.
 *
 * In Postgres, transactions may commit in another order than they began. If a transaction gave its event a position
 * before its commit, a reader could continue after that position before the event is visible, and miss the event. So
 * records are inserted without a position. After the commit, the next reader or sweep gives them positions, only one of
 * them at a time; see docs/consistency.md.
 */
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";

/** The position before the first event of a feed that is kept; 0 before a sweep moved it. */
export const feedStart = (sql: SqlClient.SqlClient, place: string | Statement.Fragment): Statement.Fragment =>
  sql`COALESCE((SELECT feed_starts.position FROM feed_starts WHERE pid = ${place}), 0)`;

/** An event with a position. */
export const isNumbered = (sql: SqlClient.SqlClient): Statement.Fragment =>
  dialectOf(sql).commitsInOrder
    ? sql`event_id IS NOT NULL`
    : sql`event_id IS NOT NULL AND position IS NOT NULL`;

/** A record that waits for its position. */
export const isUnnumbered = (sql: SqlClient.SqlClient): Statement.Fragment =>
  dialectOf(sql).commitsInOrder ? sql`1 = 0` : sql`position IS NULL`;

/**
 * Gives positions to the committed records of a place that have none, in the order of their sequences. Positions begin
 * with the time, as sequences on SQLite do: a database that was restored, or lost its last commits, gives none of them
 * again, so a cursor behind a lost event is found out. @internal
 */
export const numberRecordsOn = (sql: SqlClient.SqlClient) => {
  const { onlyOne, rowsWritten } = dialectOf(sql);
  const numberSome = Effect.fnUntraced(function* (place: string) {
    yield* sql`SELECT locks FROM ${onlyOne(`events:${place}`)}`;
    // A separate statement sees the positions that others stored while this transaction waited for the lock. ORDER BY
    // sequence keeps the records of a chat user in order, because each write locks the user's link before it inserts
    // records.
    const last = sql`COALESCE(
      (SELECT MAX(position) FROM journal WHERE place = ${place} AND position IS NOT NULL), ${feedStart(sql, place)})`;
    const time = sql`(EXTRACT(EPOCH FROM statement_timestamp()) * 100000)::bigint`;
    const numbered = sql`
      UPDATE journal SET position = ordered.position
      FROM (
        SELECT sequence, GREATEST(${time}, ${last}) + ROW_NUMBER() OVER (ORDER BY sequence) AS position
        FROM (
          SELECT sequence FROM journal WHERE place = ${place} AND ${isUnnumbered(sql)}
          ORDER BY sequence LIMIT ${batchSize} FOR UPDATE
        ) AS unnumbered
      ) AS ordered
      WHERE journal.place = ${place} AND journal.sequence = ordered.sequence`;
    return yield* rowsWritten(numbered);
  }, sql.withTransaction);
  return (place: string) => inBatches(numberSome(place));
};

/** The places with records that have no position. @internal */
export const unnumberedPlaces = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly place: string }>`SELECT DISTINCT place FROM journal WHERE ${isUnnumbered(sql)}`,
    (rows) => rows.map(({ place }) => place),
  );
