import { EventStore, Pid } from "@accountlink/core";
import { type EventType, eventTypes, type FeedEvent } from "@accountlink/core/events";
import type { Millis } from "@accountlink/core/timestamp";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Option, Schema } from "effect";
import { type SqlConnection } from "effect/sql";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { columnReader, literalSql, readerOf, schemaReaderOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { lastPosition, numberEventsOn } from "./event_writes.ts";

export const layer = storeLayer(EventStore)(({ sql, operation, commitsInOrder, elements }) => {
  const numberAll = numberEventsOn(sql);

  /**
   * Selects one row about a scope's feed: the last deleted position, the last position, and whether the feed has
   * events without a position.
   */
  const headOf = (pid: Pid) => sql`(
    SELECT COALESCE((SELECT position FROM feed_starts WHERE pid = ${pid}), 0) AS start,
      ${lastPosition(sql, pid)} AS "end",
      CASE WHEN EXISTS (SELECT 1 FROM events WHERE pid = ${pid} AND position IS NULL) THEN 1 ELSE 0 END
        AS unnumbered
  ) AS head`;

  const findHead = (pid: Pid) => readHeads(sql`SELECT head.* FROM ${headOf(pid)}`);

  // The same statement reads a page of events and `unnumbered`: whether committed events still lack a position. Only
  // such events can be missing from the page.
  const findPage = Effect.fnUntraced(function* (pid: Pid, after: number, limit: number) {
    const rows = yield* sql`
      SELECT head.*, page.* FROM ${headOf(pid)} LEFT JOIN (
        SELECT ${eventColumns} FROM events WHERE pid = ${pid} AND position > ${after} ORDER BY position LIMIT ${limit}
      ) AS page ON 1 = 1
      ORDER BY page.position`;
    const [head = noFeed] = yield* readHeads(Effect.succeed(rows.slice(0, 1)));
    const found = rows.filter(({ position }) => position !== null);
    return { head, events: yield* readEvents(Effect.succeed(found)) };
  });

  // The oldest events have the lowest sequences, so this needs no index of times.
  const forgetSome = Effect.fnUntraced(function* (before: Millis) {
    const forgotten = yield* readPlaces(sql`
      DELETE FROM events WHERE sequence IN (
        SELECT sequence FROM (
          SELECT sequence, position, at FROM events ORDER BY sequence LIMIT ${batchSize}
        ) AS oldest
        WHERE at < ${before} AND position IS NOT NULL)
      RETURNING pid, position`);
    const starts = new Map<Pid, number>();
    for (const { pid, position } of forgotten) starts.set(pid, Math.max(position, starts.get(pid) ?? 0));
    // Sorted to avoid deadlocks, since several nodes sweep.
    const rows = JSON.stringify([...starts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    yield* sql`
      INSERT INTO feed_starts (pid, position)
      SELECT value ->> 0, CAST(value ->> 1 AS BIGINT) FROM ${elements(rows)} WHERE true
      ON CONFLICT (pid) DO UPDATE SET position = excluded.position
      WHERE feed_starts.position < excluded.position`;
    return forgotten.length;
  }, sql.withTransaction);

  return {
    range: operation("range", function* (pid) {
      let [head = noFeed] = yield* findHead(pid);
      if (head.unnumbered === 1) {
        yield* numberAll(pid);
        [head = noFeed] = yield* findHead(pid);
      }
      return { start: head.start, end: head.end };
    }),

    read: operation("read", function* (pid, after, limit) {
      let found = yield* findPage(pid, after, limit);
      // Committed events without a position belong to this page: number them, and read again. One more read is
      // enough, because it finds every event that was committed before this function was called.
      if (found.head.unnumbered === 1 && found.events.length < limit) {
        yield* numberAll(pid);
        found = yield* findPage(pid, after, limit);
      }
      const { head, events } = found;
      return head.start <= after && after <= head.end ? Option.some(events) : Option.none();
    }),

    readBack: operation("readBack", function* (pid, before, limit) {
      if (!commitsInOrder) yield* numberAll(pid);
      return yield* readEvents(sql`
        SELECT ${eventColumns} FROM events WHERE pid = ${pid} AND position < ${before ?? Number.MAX_SAFE_INTEGER}
        ORDER BY position DESC LIMIT ${limit}`);
    }),

    newer: operation("newer", (places) => {
      const pairs = JSON.stringify(places.map(({ pid, after }) => [pid, after]));
      return readPids(sql`
        SELECT value ->> 0 AS pid FROM ${elements(pairs)}
        WHERE EXISTS (SELECT 1 FROM events WHERE pid = value ->> 0 AND position > CAST(value ->> 1 AS BIGINT))
          OR EXISTS (SELECT 1 FROM events WHERE pid = value ->> 0 AND position IS NULL)`);
    }),

    // The oldest event has the lowest sequence, except when the clocks of nodes differ.
    oldestAt: operation("oldestAt", function* () {
      const [at = null] = yield* readTimes(sql`SELECT at FROM events ORDER BY sequence LIMIT 1`);
      return at;
    }),

    sweep: operation("sweep", function* ({ before, erasuresBefore }) {
      if (!commitsInOrder) {
        // Reading a feed numbers its events too, but most feeds have no reader.
        const pids = yield* readPids(sql`SELECT DISTINCT pid FROM events WHERE position IS NULL`);
        for (const pid of pids) yield* numberAll(pid);
      }
      // Stop only at a batch that deletes no row. A batch selects events by sequence, which is not exactly the order
      // of time, so any batch may contain events that are too new to be deleted.
      const forgotten = yield* inBatches(forgetSome(before), 1);
      const nobody = JSON.stringify({ chatId: erasedMark });
      yield* sql`
        UPDATE events SET data = ${nobody}
        WHERE type = 'user.erased' AND at < ${erasuresBefore} AND data <> ${nobody}`;
      return forgotten;
    }),
  };
});

const noFeed = { start: 0, end: 0, unnumbered: 0 };

const readHeads = schemaReaderOf(
  "events",
  Schema.Struct({ start: Schema.Int, end: Schema.Int, unnumbered: Schema.Int }),
);

const eventColumns = literalSql("position, id, type, at, data");

const types: ReadonlySet<unknown> = new Set<EventType>(eventTypes);

// Decoded without Schema, since reading a feed decodes many rows per page.
const readEvents = readerOf("events", ({ position, id, type, at, data }: SqlConnection.Row) => {
  if (!Number.isSafeInteger(position) || typeof id !== "string" || !Number.isSafeInteger(at))
    return undefined;
  const parsed = types.has(type) ? objectIn(data) : undefined;
  return parsed === undefined ? undefined : ({ position, id, type, at, data: parsed } as FeedEvent);
});

const objectIn = (text: unknown): object | undefined => {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

const readPids = columnReader("events", "pid", Pid);

const readTimes = columnReader("events", "at", Schema.Int);

const readPlaces = schemaReaderOf("events", Schema.Struct({ pid: Pid, position: Schema.Int }));
