/** Implements `EventStore.sweep` in SQL, in transactions of limited size. */
import { Pid } from "@accountlink/core";
import type { SweepEvents } from "@accountlink/core/events";
import type { Millis } from "@accountlink/core/timestamp";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { schemaReaderOf } from "../statements/row.ts";
import { readPids } from "./event_row.ts";
import { numberEventsOn } from "./event_writes.ts";

export const sweepEventsOn = (sql: SqlClient.SqlClient) => {
  const { elements, commitsInOrder } = dialectOf(sql);
  const numberAll = numberEventsOn(sql);

  /** Numbers the events of all feeds. Reading a feed numbers its events too, but most feeds have no reader. */
  const numberNew = sql`SELECT DISTINCT pid FROM events WHERE position IS NULL`.pipe(
    Effect.flatMap(readPids),
    Effect.flatMap((pids) => Effect.forEach(pids, numberAll, { discard: true })),
  );

  // The oldest events have the lowest sequences, so this needs no index of times.
  const forgetSome = Effect.fnUntraced(function* (before: Millis) {
    const forgotten = yield* Effect.flatMap(
      sql`
        DELETE FROM events WHERE sequence IN (
          SELECT sequence FROM (
            SELECT sequence, position, at FROM events ORDER BY sequence LIMIT ${batchSize}
          ) AS oldest
          WHERE at < ${before} AND position IS NOT NULL)
        RETURNING pid, position`,
      readPlaces,
    );
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

  const nobody = JSON.stringify({ chatId: erasedMark });
  const forgetErased = (before: Millis) => sql`
    UPDATE events SET data = ${nobody}
    WHERE type = 'user.erased' AND at < ${before} AND data <> ${nobody}`;

  return Effect.fnUntraced(function* ({ before, erasuresBefore }: SweepEvents) {
    if (!commitsInOrder) yield* numberNew;
    // Stop only at a batch that deletes no row. A batch selects events by sequence, which is not exactly the order of
    // time, so any batch may contain events that are too new to be deleted.
    const forgotten = yield* inBatches(forgetSome(before), 1);
    yield* forgetErased(erasuresBefore);
    return forgotten;
  });
};

const readPlaces = schemaReaderOf(
  "events",
  Schema.Struct({ pid: Pid, position: Schema.Int }),
  (place) => place,
);
