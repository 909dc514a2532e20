import { AuditLog, Pid } from "@accountlink/core";
import { type AuditFilter, auditActions, newestOf, searchEntries } from "@accountlink/core/audit";
import { groupBy } from "@accountlink/core/group_by";
import { entryOf, withoutEntry } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { columnReader, literalSql, OptionalInt } from "../statements/row.ts";
import { type StoreParts, storeLayer } from "../statements/store_operation.ts";
import { eachPlace } from "./places.ts";
import { feedStart } from "./positions.ts";
import { accountPlace, pidOf, positionOn, readRecords, recordColumnsOn, replaceRecords } from "./records.ts";

export const layer = storeLayer(AuditLog)((parts) => {
  const { sql, operation, elements } = parts;
  const forgetSome = forgetOn(sql);

  /**
   * Finds where the records end that are older than a time, up to the sequence `newest`: halves the sequences of each
   * place, since records are nearly in order of time, and no index has their times. Most places end before the ones that
   * were halved first, which one record tells.
   */
  const lastBefore = Effect.fnUntraced(function* (
    places: ReadonlyArray<string>,
    newest: number,
    time: Millis,
  ) {
    const isLate = (place: string, from: Statement.Fragment) => sql`${time} <= (
      SELECT at FROM journal WHERE journal.place = ${literalSql(place)} AND sequence >= ${from} ORDER BY sequence LIMIT 1)`;
    const middle = literalSql("((low + high) / 2)");
    const isMiddleLate = isLate("halves.place", middle);
    let found = 0;
    for (const some of Arr.chunksOf(places, placesHalved)) {
      const end = (edge: string, condition: Statement.Fragment) =>
        sql`(SELECT ${literalSql(edge)} FROM journal WHERE place = value ->> 0 AND sequence ${condition})`;
      const first = end("MIN(sequence)", sql`>= ${found}`);
      const last = end("MAX(sequence) + 1", sql`< ${newest}`);
      const [high = null] = yield* readEnds(sql`
        WITH RECURSIVE halves (place, low, high) AS (
          SELECT value ->> 0, COALESCE(${first}, CAST(${found} AS BIGINT)),
            CASE WHEN ${isLate("value ->> 0", sql`${found}`)} THEN ${found} ELSE COALESCE(${last}, 0) END
          FROM ${elements(JSON.stringify(some.map((place) => [place])))}
          UNION ALL
          SELECT place, CASE WHEN ${isMiddleLate} THEN low ELSE ${middle} END,
            CASE WHEN ${isMiddleLate} THEN ${middle} ELSE high END
          FROM halves WHERE high - low > ${closeSequences(sql)}
        )
        SELECT MAX(high) AS last FROM halves WHERE high - low <= ${closeSequences(sql)}`);
      found = Math.max(found, high ?? 0);
      yield* Effect.yieldNow;
    }
    return found;
  });
  return {
    list: operation("list", function* (account, before, limit, filter) {
      assertStorable([account]);
      const pids = yield* readPids(sql`SELECT pid FROM scopes WHERE account = ${account}`);
      const places = [accountPlace(account), ...pids].filter((place) => isMeant(place, filter));
      const known = new Set(places);
      return yield* searchEntries(
        account,
        {
          read: (end, size) => readPage(parts, places, end, size, filter),
          entryIn: (record) => {
            const { place, sequence } = record;
            return known.has(place) ? entryOf(record, { sequence, account, pid: pidOf(place) }) : undefined;
          },
          lastBefore: (newest, time) => lastBefore(places, newest, time),
        },
        before,
        limit,
        filter,
      );
    }),

    forget: operation("forget", function* (before) {
      let forgotten = 0;
      const first = sql`
        SELECT at FROM journal WHERE journal.place = places.place AND actor_type IS NOT NULL ORDER BY sequence LIMIT 1`;
      yield* eachPlace(
        sql,
        first,
        Effect.fnUntraced(function* (place, at) {
          if (at < before) forgotten += yield* forgetSome(place, before);
        }),
      );
      return forgotten;
    }),
  };
});

/** A statement halves the sequences of this many places. */
const placesHalved = 100;

/** A search need not halve this many sequences: a minute or a hundred records have as many. */
const closeSequences = (sql: SqlClient.SqlClient): number =>
  dialectOf(sql).commitsInOrder ? 6_000_000 : 100;

const isMeant = (place: string, { pid = null, pids = null }: Partial<AuditFilter> = {}): boolean =>
  (pid === null || pid === place) && (pids === null || pids.some((some) => some === place));

/** An index finds records of rare actions. A write of a link does not change it. */
const isRare = literalSql(
  "action NOT IN ('link.set', 'session.completed', 'session.failed', 'session.cancelled')",
);

/** A statement reads records of this many lists. On SQLite, each takes some microseconds. */
const listsAtOnce = 500;

/** Reads records among which are the next entries that a filter selects, newest first. */
const readPage = (
  { sql, firstRowsOfEach }: StoreParts,
  places: ReadonlyArray<string>,
  before: number,
  limit: number,
  { action = null, chatId = null, member = null, readable = null }: Partial<AuditFilter> = {},
) => {
  const records = sql`SELECT ${recordColumnsOn(sql)} FROM`;
  const next = sql`sequence < ${before}`;
  const page = sql`ORDER BY sequence DESC LIMIT ${limit}`;
  if (chatId !== null) {
    // Two selects, so that each uses an index.
    const about = (column: string) =>
      sql`${records} journal WHERE ${sql(column)} = ${chatId} AND ${next} ${page}`;
    return readRecords(sql`
      SELECT * FROM (${about("chat_id")}) AS one UNION SELECT * FROM (${about("other_chat_id")}) AS other ${page}`);
  }
  if (member !== null)
    return readRecords(sql`${records} journal WHERE member = ${member} AND ${next} ${page}`);
  const wanted = (readable ?? auditActions).filter((each) => action === null || each === action);
  const isFrequent = wanted.includes("link.set");
  const kind = isFrequent ? sql`` : sql`AND action = value ->> 2 AND ${isRare}`;
  const lists = places.flatMap((place) => (isFrequent ? [[place]] : wanted.map((each) => [place, each])));
  const condition = sql`place = value ->> 1 AND sequence < CAST(value ->> 0 AS BIGINT) ${kind}`;
  return newestOf(lists, before, limit, (open, most) => {
    const readSome = Effect.fnUntraced(function* (some: typeof open) {
      const json = JSON.stringify(some.map(({ list, before: end }) => [end, ...list]));
      const rows = {
        json,
        table: "journal",
        key: "sequence",
        condition,
        order: "sequence DESC",
        limit: most,
      };
      const found = groupBy(yield* readRecords(sql`${records} ${firstRowsOfEach(rows)} ${page}`), (record) =>
        String(isFrequent ? [record.place] : [record.place, record.action]),
      );
      yield* Effect.yieldNow;
      return some.map(({ list }) => found.get(String(list)) ?? []);
    });
    return Effect.map(Effect.forEach(Arr.chunksOf(open, listsAtOnce), readSome), Arr.flatten);
  });
};

/** Makes a function that deletes the old entries of a place. Their events stay as long as the feed has them. */
const forgetOn = (sql: SqlClient.SqlClient) => {
  const { asStep, forUpdate, rowsWritten } = dialectOf(sql);
  const position = positionOn(sql);
  const isKept = sql`event_id IS NOT NULL AND (position IS NULL OR position > start)`;
  const oldest = (place: string, condition: Statement.Fragment) => sql`
    SELECT sequence FROM (
      SELECT sequence, at, event_id, ${position} AS position,
        ${feedStart(sql, place)} AS start
      FROM journal WHERE place = ${place} AND actor_type IS NOT NULL ORDER BY sequence LIMIT ${batchSize}
    ) AS oldest WHERE ${condition}`;

  const deleteSome = (place: string, before: Millis) =>
    asStep(
      rowsWritten(sql`
        DELETE FROM journal WHERE place = ${place} AND actor_type IS NOT NULL
          AND sequence IN (${oldest(place, sql`at < ${before} AND NOT (${isKept})`)})`),
    );

  const withdrawSome = Effect.fnUntraced(function* (place: string, before: Millis) {
    const kept = yield* readRecords(sql`
      SELECT ${recordColumnsOn(sql)} FROM journal
      WHERE place = ${place} AND sequence IN (${oldest(place, sql`at < ${before} AND ${isKept}`)})
        AND actor_type IS NOT NULL ${forUpdate}`);
    yield* replaceRecords(
      sql,
      kept.map((record) => ({ ...record, ...withoutEntry(record) })),
    );
    return kept.length;
  }, sql.withTransaction);

  // Stop only at a batch that changes no row. A batch selects records by sequence, which is not exactly the order of time,
  // so any batch may contain entries that are too new.
  return (place: string, before: Millis) =>
    Effect.zipWith(
      inBatches(deleteSome(place, before), 1),
      inBatches(withdrawSome(place, before), 1),
      (deleted, withdrawn) => deleted + withdrawn,
    );
};

const readEnds = columnReader("journal", "last", OptionalInt);
const readPids = columnReader("scopes", "pid", Pid);
