import { AuditLog, Pid } from "@accountlink/core";
import { type AuditFilter, auditActions, isSelected } from "@accountlink/core/audit";
import { entryOf, withoutEntry } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { columnReader, literalSql } from "../statements/row.ts";
import { type StoreParts, storeLayer } from "../statements/store_operation.ts";
import { eachPlace } from "./places.ts";
import { accountPlace, pidOf, positionOn, readRecords, recordColumnsOn, replaceRecords } from "./records.ts";

export const layer = storeLayer(AuditLog)((parts) => {
  const { sql, operation, rowsWritten } = parts;
  const forgetSome = forgetOn(sql, rowsWritten);
  return {
    // Records are read in steps from the newest on, so that a filter that selects few of them does not block others.
    list: operation("list", function* (account, before, limit, filter) {
      assertStorable([account]);
      const pids = yield* readPids(sql`SELECT pid FROM scopes WHERE account = ${account}`);
      const places = [accountPlace(account), ...pids].filter((place) => isMeant(place, filter));
      const entries = [];
      let end = before ?? Number.MAX_SAFE_INTEGER;
      let size = limit;
      for (;;) {
        const page = yield* readRecords(pageOn(parts, places, end, size, filter));
        for (const record of page) {
          const { place, sequence } = record;
          const entry = entryOf(record, { sequence, account, pid: pidOf(place) });
          if (entry !== undefined && places.includes(place) && isSelected(entry, filter)) entries.push(entry);
        }
        const last = page.at(-1);
        if (entries.length >= limit || last === undefined || page.length < size)
          return entries.slice(0, limit);
        end = last.sequence;
        size = batchSize;
        yield* Effect.yieldNow;
      }
    }),

    forget: operation("forget", function* (before) {
      let forgotten = 0;
      const first = sql`
        SELECT at FROM journal WHERE journal.place = places.place AND actor_type IS NOT NULL ORDER BY sequence LIMIT 1`;
      yield* eachPlace(sql, first, (found) =>
        Effect.forEach(
          found.filter(({ at }) => at !== null && at < before),
          ({ place }) => Effect.map(forgetSome(place, before), (count) => (forgotten += count)),
          { discard: true },
        ),
      );
      return forgotten;
    }),
  };
});

const isMeant = (place: string, { pid = null, pids = null }: Partial<AuditFilter> = {}): boolean =>
  (pid === null || pid === place) && (pids === null || pids.some((some) => some === place));

/** An index finds records of rare actions. A write of a link does not change it. */
const isRare = literalSql(
  "action NOT IN ('link.set', 'session.completed', 'session.failed', 'session.cancelled')",
);

/** Records among which are the next entries that a filter selects, newest first. */
const pageOn = (
  { sql, firstRowsOfEach }: StoreParts,
  places: ReadonlyArray<string>,
  before: number,
  limit: number,
  { action = null, chatId = null, readable = null }: Partial<AuditFilter> = {},
) => {
  const records = sql`SELECT ${recordColumnsOn(sql)} FROM`;
  const next = sql`sequence < ${before} AND actor_type IS NOT NULL`;
  const page = sql`ORDER BY sequence DESC LIMIT ${limit}`;
  if (chatId !== null) {
    // Two selects, so that each uses an index.
    const about = (column: string) =>
      sql`${records} journal WHERE ${sql(column)} = ${chatId} AND ${next} ${page}`;
    return sql`
      SELECT * FROM (${about("chat_id")}) AS one UNION SELECT * FROM (${about("other_chat_id")}) AS other ${page}`;
  }
  const wanted = (readable ?? auditActions).filter((each) => action === null || each === action);
  const firstOf = (each: ReadonlyArray<ReadonlyArray<string>>, condition: Statement.Fragment) => {
    const order = "sequence DESC";
    const json = JSON.stringify(each);
    return sql`${records} ${firstRowsOfEach({ json, table: "journal", key: "sequence", condition, order, limit })} ${page}`;
  };
  if (wanted.includes("link.set")) {
    return firstOf(
      places.map((place) => [place]),
      sql`place = value ->> 0 AND ${next}`,
    );
  }
  return firstOf(
    places.flatMap((place) => wanted.map((each) => [place, each])),
    sql`place = value ->> 0 AND action = value ->> 1 AND ${isRare} AND ${next}`,
  );
};

/** Makes a function that deletes the old entries of a place. Their events stay as long as the feed has them. */
const forgetOn = (sql: SqlClient.SqlClient, rowsWritten: (raw: unknown) => number) => {
  const { asStep, forUpdate } = dialectOf(sql);
  const position = positionOn(sql);
  const isKept = sql`event_id IS NOT NULL AND (position IS NULL OR position > start)`;
  const oldest = (place: string, condition: Statement.Fragment) => sql`
    SELECT sequence FROM (
      SELECT sequence, at, event_id, ${position} AS position,
        COALESCE((SELECT position FROM feed_starts WHERE pid = ${place}), 0) AS start
      FROM journal WHERE place = ${place} AND actor_type IS NOT NULL ORDER BY sequence LIMIT ${batchSize}
    ) AS oldest WHERE ${condition}`;

  const deleteSome = (place: string, before: Millis) =>
    asStep(
      Effect.map(
        sql`
          DELETE FROM journal WHERE place = ${place} AND actor_type IS NOT NULL
            AND sequence IN (${oldest(place, sql`at < ${before} AND NOT (${isKept})`)})`.raw,
        rowsWritten,
      ),
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

const readPids = columnReader("scopes", "pid", Pid);
