/**
 * Gives records their positions in their place, which are the positions of events in the feed.
 *
 * In Postgres, transactions may commit in another order than they began. If a transaction gave its event a position
 * before its commit, a reader could continue after that position before the event is visible, and miss the event. So
 * records are inserted without a position. After the commit, the next reader or sweep gives them positions, only one of
 * them at a time; see docs/consistency.md.
 */
import { timedNumbers } from "@accountlink/core/journal";
import type { Millis } from "@accountlink/core/timestamp";
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
 * Gives positions to the committed records of a place that have none: the sequence of the record, or the number behind the
 * last position. So positions and sequences have one order. @internal
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
    const numbered = sql`
      UPDATE journal SET position = ordered.position
      FROM (
        SELECT sequence, GREATEST(sequence, ${last} + ROW_NUMBER() OVER (ORDER BY sequence)) AS position
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

/**
 * Makes the next sequences of Postgres greater than all that the database gave before a time, as those of SQLite are. A
 * restored database would otherwise give the sequences of lost events to new ones, which readers behind those would miss.
 */
export const passNumbers = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, at: Millis) {
  if (dialectOf(sql).commitsInOrder) return;
  const next = timedNumbers()(at);
  const sequence = sql`pg_get_serial_sequence('journal', 'sequence')::regclass`;
  yield* sql`SELECT setval(${sequence}, ${next}::bigint) WHERE nextval(${sequence}) < ${next}::bigint`;
});

/** The places with records that have no position. @internal */
export const unnumberedPlaces = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly place: string }>`SELECT DISTINCT place FROM journal WHERE ${isUnnumbered(sql)}`,
    (rows) => rows.map(({ place }) => place),
  );
