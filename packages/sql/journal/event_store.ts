import { EventStore, Pid } from "@accountlink/core";
import { groupBy, partsOf } from "@accountlink/core/group_by";
import { eventOf } from "@accountlink/core/journal";
import type { Tx } from "@accountlink/core/records";
import type { Millis } from "@accountlink/core/timestamp";
import { erasedMark } from "@accountlink/core/users";
import { Array as Arr, Effect, Option, Schema } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { columnReader, OptionalInt, schemaReaderOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { eachPlace } from "./places.ts";
import { feedStart, isNumbered, isUnnumbered, numberRecordsOn, unnumberedPlaces } from "./positions.ts";
import { positionOn, readRecords, recordColumnsOn, type StoredRecord } from "./records.ts";

export const layer = storeLayer(EventStore)((parts) => {
  const { sql, operation, asStep, commitsInOrder, elements, rowsWritten } = parts;
  const numberAll = numberRecordsOn(sql);
  const position = positionOn(sql);
  const numbered = isNumbered(sql);
  const startOf = (pid: Pid) => feedStart(sql, pid);

  /**
   * Selects one row about a scope's feed: the last position that is not kept any more, the last position, and whether the
   * feed has events without a position.
   */
  const headOf = (pid: Pid) => sql`(
    SELECT ${startOf(pid)} AS start,
      COALESCE(
        (SELECT ${position} FROM journal
          WHERE place = ${pid} AND ${numbered} AND ${position} > ${startOf(pid)} ORDER BY ${position} DESC LIMIT 1),
        ${startOf(pid)}) AS "end",
      CASE WHEN EXISTS (SELECT 1 FROM journal WHERE place = ${pid} AND ${isUnnumbered(sql)}) THEN 1 ELSE 0 END
        AS unnumbered
  ) AS head`;

  const findHead = (pid: Pid) => readHeads(sql`SELECT head.* FROM ${headOf(pid)}`);

  // The same statement reads a page of events and `unnumbered`: whether committed events still lack a position. Only
  // such events can be missing from the page.
  const findPage = Effect.fnUntraced(function* (pid: Pid, after: number, limit: number) {
    const rows = yield* sql`
      SELECT head.*, page.* FROM ${headOf(pid)} LEFT JOIN (
        SELECT ${recordColumnsOn(sql)} FROM journal WHERE place = ${pid} AND ${position} > ${after} AND ${numbered}
        ORDER BY ${position} LIMIT ${limit}
      ) AS page ON 1 = 1
      ORDER BY page.position`;
    const [head = noFeed] = yield* readHeads(Effect.succeed(rows.slice(0, 1)));
    const found = rows.filter(({ place }) => place !== null);
    return { head, events: eventsOf(yield* readRecords(Effect.succeed(found))) };
  });

  /** Moves the start of a feed behind its old events, and deletes those that the audit log does not have. */
  const forgetSome = Effect.fnUntraced(function* (pid: Pid, before: Millis) {
    const [{ start } = noFeed] = yield* findHead(pid);
    const old = sql`
      SELECT ${position} AS position, at FROM journal
      WHERE place = ${pid} AND ${numbered} AND ${position} > ${start} ORDER BY ${position} LIMIT ${batchSize}`;
    const [{ end, count } = { end: null, count: 0 }] = yield* readForgotten(sql`
      SELECT MAX(position) AS "end", CAST(COUNT(*) AS INTEGER) AS count FROM (${old}) AS old WHERE at < ${before}`);
    if (end === null) return 0;
    yield* sql`
      INSERT INTO feed_starts (pid, position) VALUES (${pid}, ${end})
      ON CONFLICT (pid) DO UPDATE SET position = excluded.position WHERE feed_starts.position < excluded.position`;
    yield* sql`
      DELETE FROM journal WHERE place = ${pid} AND ${position} > ${start} AND ${position} <= ${end}
        AND ${numbered} AND actor_type IS NULL`;
    return count;
  }, sql.withTransaction);

  /** Takes erased users out of the events of some erasures. */
  const eraseSome = (before: Millis) => {
    const isNamed = sql`action = 'user.erased' AND fields <> ${sql.literal(`'${erased}'`)} AND at < ${before}`;
    return asStep(
      rowsWritten(sql`
        UPDATE journal SET fields = ${erased} WHERE (place, sequence) IN (
          SELECT place, sequence FROM journal WHERE ${isNamed} LIMIT ${batchSize}) AND ${isNamed}`),
    );
  };

  /** Selects the time of the first event of a feed that is kept. */
  const firstOf = (place: Statement.Fragment) => sql`
    SELECT at FROM journal WHERE journal.place = ${place} AND ${numbered}
      AND ${position} > ${feedStart(sql, place)}
    ORDER BY ${position} LIMIT 1`;

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
      return eventsOf(
        yield* readRecords(sql`
          SELECT ${recordColumnsOn(sql)} FROM journal
          WHERE place = ${pid} AND ${position} < ${before ?? Number.MAX_SAFE_INTEGER} AND ${position} > ${startOf(pid)}
            AND ${numbered}
          ORDER BY ${position} DESC LIMIT ${limit}`),
      );
    }),

    newer: operation("newer", function* (places) {
      const found: Array<Pid> = [];
      for (const some of Arr.chunksOf(places, placesAtOnce)) {
        const pairs = JSON.stringify(some.map(({ pid, after }) => [pid, after]));
        found.push(
          ...(yield* readPids(sql`
            SELECT value ->> 0 AS pid FROM ${elements(pairs)}
            WHERE EXISTS (
                SELECT 1 FROM journal
                WHERE place = value ->> 0 AND ${position} > CAST(value ->> 1 AS BIGINT) AND ${numbered})
              OR EXISTS (SELECT 1 FROM journal WHERE place = value ->> 0 AND ${isUnnumbered(sql)})`)),
        );
        if (places.length > placesAtOnce) yield* Effect.yieldNow;
      }
      return found;
    }),

    sweep: operation("sweep", function* ({ before, erasuresBefore }) {
      if (!commitsInOrder) {
        // Reading a feed numbers its events too, but most feeds have no reader.
        for (const place of yield* unnumberedPlaces(sql)) yield* numberAll(place);
      }
      let forgotten = 0;
      let oldest = Infinity;
      yield* eachPlace(
        sql,
        firstOf(sql`places.place`),
        Effect.fnUntraced(function* (place, at) {
          let first: number | null = at;
          if (at < before) {
            // Stop only at a batch that forgets no event. A batch selects events by position, which is not exactly the
            // order of time, so any batch may contain events that are too new.
            forgotten += yield* inBatches(forgetSome(place as Pid, before), 1);
            [first = null] = yield* readTimes(sql`SELECT (${firstOf(sql`${place}`)}) AS at`);
          }
          oldest = Math.min(oldest, first ?? Infinity);
        }),
      );
      yield* inBatches(eraseSome(erasuresBefore));
      return { forgotten, oldestAt: oldest === Infinity ? null : oldest };
    }),
  };
});

const erased = JSON.stringify({ chatId: erasedMark });

const eventsOf = (records: ReadonlyArray<StoredRecord>) =>
  records.flatMap((record) => eventOf(record, record.position ?? 0) ?? []);

/** A statement looks for newer events of this many feeds. On SQLite, each takes some microseconds. */
const placesAtOnce = 500;

const noFeed = { start: 0, end: 0, unnumbered: 0 };

const readHeads = schemaReaderOf(
  "journal",
  Schema.Struct({ start: Schema.Int, end: Schema.Int, unnumbered: Schema.Int }),
);

const readForgotten = schemaReaderOf(
  "journal",
  Schema.Struct({ end: Schema.NullOr(Schema.Int), count: Schema.Int }),
);

const readTimes = columnReader("journal", "at", OptionalInt);

const readPids = columnReader("journal", "pid", Pid);

/** A statement counts the events of this many scopes. */
const scopesCounted = 20;

/** `Tx.countEvents` of a connection. */
export const countEventsOn = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong } = dialectOf(sql);
  const position = positionOn(sql);
  return Effect.fnUntraced(function* (...[searches, { most, searched }]: Parameters<Tx["countEvents"]>) {
    const counts = searches.map(() => 0);
    const indexes = groupBy(searches.keys(), (index) => String(searches[index]?.types));
    for (const some of [...indexes.values()].flatMap((each) => partsOf(each, scopesCounted))) {
      const pairs = some.map((index) => [index, searches[index]?.pid, searches[index]?.after]);
      const types = searches[some[0] ?? 0]?.types ?? [];
      const ofTypes = sql`REPLACE(action, 'links.import_undone', 'links.imported') ${isAmong(types)}`;
      const isMeant =
        types.length === 0 ? sql`event_id IS NOT NULL` : sql`event_id IS NOT NULL AND ${ofTypes}`;
      const counted = (records: Statement.Fragment) => sql`
        (SELECT COUNT(*) FROM (
          SELECT 1 FROM (
            SELECT event_id, action FROM journal WHERE journal.place = value ->> 1 AND ${records} LIMIT ${searched}
          ) AS next WHERE ${isMeant} LIMIT ${most}) AS told)`;
      const start = feedStart(sql, sql`value ->> 1`);
      const inOrder = sql`
        ${isNumbered(sql)} AND ${position} > CAST(value ->> 2 AS BIGINT) AND ${position} > ${start} ORDER BY ${position}`;
      const found = yield* sql<{ readonly place: string | number; readonly count: string | number }>`
        SELECT value ->> 0 AS place, ${counted(inOrder)} + ${counted(isUnnumbered(sql))} AS count
        FROM ${elements(JSON.stringify(pairs))}`;
      for (const { place, count } of found) counts[Number(place)] = Math.min(most, Number(count));
      yield* Effect.yieldNow;
    }
    return counts;
  });
};
