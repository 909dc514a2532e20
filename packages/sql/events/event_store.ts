import { EventStore, type Pid } from "@accountlink/core";
import type { FeedPlace } from "@accountlink/core/events";
import { Effect, Layer, Option, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader, schemaReaderOf } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { eventColumns, readEvents, readPids } from "./event_row.ts";
import { sweepEventsOn } from "./event_sweep.ts";
import { lastPosition, numberEventsOn } from "./event_writes.ts";

export const layer: Layer.Layer<EventStore, never, SqlClient.SqlClient> = Layer.effect(
  EventStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const [range, read, newer, sweep] = [rangeOn(sql), readOn(sql), newerOn(sql), sweepEventsOn(sql)];
    const numberAll = numberEventsOn(sql);
    const { commitsInOrder } = dialectOf(sql);
    return EventStore.of({
      range: (pid) => range(pid).pipe(storeOperation("EventStore.range")),
      read: (pid, after, limit) => read(pid, after, limit).pipe(storeOperation("EventStore.read")),

      readBack: (pid, before, limit) =>
        (commitsInOrder ? Effect.void : numberAll(pid)).pipe(
          Effect.andThen(
            sql`SELECT ${eventColumns} FROM events
              WHERE pid = ${pid} AND position < ${before ?? Number.MAX_SAFE_INTEGER}
              ORDER BY position DESC LIMIT ${limit}`,
          ),
          Effect.flatMap(readEvents),
          storeOperation("EventStore.readBack"),
        ),

      newer: (places) => newer(places).pipe(storeOperation("EventStore.newer")),

      // The oldest event has the lowest sequence, except when the clocks of nodes differ.
      oldestAt: () =>
        sql`SELECT at FROM events ORDER BY sequence LIMIT 1`.pipe(
          Effect.flatMap(readTimes),
          Effect.map(([at = null]) => at),
          storeOperation("EventStore.oldestAt"),
        ),

      sweep: (times) => sweep(times).pipe(storeOperation("EventStore.sweep")),
    });
  }),
);

const rangeOn = (sql: SqlClient.SqlClient) => {
  const headIn = headOf(sql);
  const find = (pid: Pid) => Effect.flatMap(sql`SELECT head.* FROM ${headIn(pid)}`, readHeads);
  const numberAll = numberEventsOn(sql);
  return Effect.fnUntraced(function* (pid: Pid) {
    let [head = noFeed] = yield* find(pid);
    if (head.unnumbered === 1) {
      yield* numberAll(pid);
      [head = noFeed] = yield* find(pid);
    }
    return { start: head.start, end: head.end };
  });
};

const readOn = (sql: SqlClient.SqlClient) => {
  const headIn = headOf(sql);
  const numberAll = numberEventsOn(sql);

  // The same statement reads a page of events and `unnumbered`: whether committed events still lack a position. Only
  // such events can be missing from the page.
  const find = (pid: Pid, after: number, limit: number) => sql`
    SELECT head.*, page.* FROM ${headIn(pid)} LEFT JOIN (
      SELECT ${eventColumns} FROM events WHERE pid = ${pid} AND position > ${after} ORDER BY position LIMIT ${limit}
    ) AS page ON 1 = 1
    ORDER BY page.position`;

  const readRows = Effect.fnUntraced(function* (pid: Pid, after: number, limit: number) {
    const rows = yield* find(pid, after, limit);
    const [head = noFeed] = yield* readHeads(rows.slice(0, 1));
    return { head, events: yield* readEvents(rows.filter(({ position }) => position !== null)) };
  });

  return Effect.fnUntraced(function* (pid: Pid, after: number, limit: number) {
    let found = yield* readRows(pid, after, limit);
    // Committed events without a position belong to this page: number them, and read again. One more read is enough,
    // because it finds every event that was committed before this function was called.
    if (found.head.unnumbered === 1 && found.events.length < limit) {
      yield* numberAll(pid);
      found = yield* readRows(pid, after, limit);
    }
    const { head, events } = found;
    return head.start <= after && after <= head.end ? Option.some(events) : Option.none();
  });
};

const noFeed = { start: 0, end: 0, unnumbered: 0 };

/**
 * Selects one row about a scope's feed: the last deleted position, the last position, and whether the feed has events
 * without a position.
 */
const headOf = (sql: SqlClient.SqlClient) => (pid: Pid) =>
  sql`(
  SELECT COALESCE((SELECT position FROM feed_starts WHERE pid = ${pid}), 0) AS start,
    ${lastPosition(sql, pid)} AS "end",
    CASE WHEN EXISTS (SELECT 1 FROM events WHERE pid = ${pid} AND position IS NULL) THEN 1 ELSE 0 END
      AS unnumbered
) AS head`;

const readHeads = schemaReaderOf(
  "events",
  Schema.Struct({ start: Schema.Int, end: Schema.Int, unnumbered: Schema.Int }),
  (head) => head,
);

const newerOn = (sql: SqlClient.SqlClient) => {
  const { elements } = dialectOf(sql);
  return (places: ReadonlyArray<FeedPlace>) => {
    const pairs = JSON.stringify(places.map(({ pid, after }) => [pid, after]));
    return Effect.flatMap(
      sql`
        SELECT value ->> 0 AS pid FROM ${elements(pairs)}
        WHERE EXISTS (SELECT 1 FROM events WHERE pid = value ->> 0 AND position > CAST(value ->> 1 AS BIGINT))
          OR EXISTS (SELECT 1 FROM events WHERE pid = value ->> 0 AND position IS NULL)`,
      readPids,
    );
  };
};

const readTimes = columnReader("events", "at", Schema.Int);
