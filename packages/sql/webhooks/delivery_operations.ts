/** The operations of `WebhookStore` on deliveries. */
import type { Millis } from "@accountlink/core/timestamp";
import { newUlid } from "@accountlink/core/ulid";
import {
  type DeliveryFilter,
  type DeliveryStatus,
  lanesOf,
  type RecordDeliveries,
  type RequestedAttempt,
  resent,
  type StoredDelivery,
  type WebhookId,
  type WebhookStore,
} from "@accountlink/core/webhooks";
import { Array as Arr, Effect, Option, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { mergedPage } from "../statements/merged_page.ts";
import { columnReader, schemaReaderOf, textAs } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { deliveryColumns, deliveryValues, readDeliveries } from "./webhook_row.ts";

type Operations = Pick<
  WebhookStore["Service"],
  "deliveries" | "findDelivery" | "recordRequested" | "look" | "due" | "sendPending" | "record" | "sweep"
>;

export const deliveryOperations = (sql: SqlClient.SqlClient): Operations => {
  const [record, recordRequested] = [recordOn(sql), recordRequestedOn(sql)];
  const [look, sendPending, sweep] = [lookOn(sql), sendPendingOn(sql), sweepOn(sql)];
  return {
    deliveries: (id, filter) =>
      listOn(sql, id, filter).pipe(
        Effect.flatMap(readDeliveries),
        storeOperation("WebhookStore.deliveries", filter.before ?? ""),
      ),

    findDelivery: (id, eventId) =>
      sql`
        SELECT ${deliveryColumns} FROM webhook_deliveries WHERE webhook_id = ${id} AND event_id = ${eventId}`.pipe(
        Effect.flatMap(readDeliveries),
        Effect.map(Arr.head),
        storeOperation("WebhookStore.findDelivery", eventId),
      ),

    look: (id, eventIds, lanes) => look(id, eventIds, lanes).pipe(storeOperation("WebhookStore.look")),

    due: (id, at, limit) =>
      sql`
        SELECT ${deliveryColumns} FROM webhook_deliveries
        WHERE webhook_id = ${id} AND next_attempt_at IS NOT NULL AND next_attempt_at <= ${at}
        ORDER BY next_attempt_at LIMIT ${limit}`.pipe(
        Effect.flatMap(readDeliveries),
        storeOperation("WebhookStore.due"),
      ),

    sendPending: (id, at) => sendPending(id, at).pipe(storeOperation("WebhookStore.sendPending")),

    record: (write) => record(write).pipe(storeOperation("WebhookStore.record")),
    recordRequested: (attempt) =>
      recordRequested(attempt).pipe(
        Effect.map(Option.fromUndefinedOr),
        storeOperation("WebhookStore.recordRequested", attempt.delivery.eventId),
      ),
    sweep: (before) => sweep(before).pipe(storeOperation("WebhookStore.sweep")),
  };
};

/** A text that sorts after every event ID. */
const afterAll = "~";

/**
 * Reads a page of each listed status, and merges the pages. Waiting deliveries are not listed. After an outage, a scan
 * of all statuses would have to skip many of them.
 */
const listOn = (sql: SqlClient.SqlClient, id: WebhookId, { status, before, limit }: DeliveryFilter) => {
  // Compare and sort by status and event ID together, as the index is sorted. With `status = …` and an order by event
  // ID alone, Postgres may scan all deliveries, starting with the newest.
  const having = (one: DeliveryStatus) => sql`
    SELECT * FROM (
      SELECT ${deliveryColumns} FROM webhook_deliveries
      WHERE webhook_id = ${id} AND status >= ${one} AND (status, event_id) < (${one}, ${before ?? afterAll})
      ORDER BY status DESC, event_id DESC LIMIT ${limit}
    ) AS having_it`;
  const shown = status === null ? deliveryStatuses : [status];
  return mergedPage(sql, shown.map(having), sql`ORDER BY event_id DESC LIMIT ${limit}`);
};

const deliveryStatuses = [
  "delivered",
  "failing",
  "given_up",
] as const satisfies ReadonlyArray<DeliveryStatus>;

const lookOn = (sql: SqlClient.SqlClient) => {
  const { isAmong } = dialectOf(sql);
  return Effect.fnUntraced(function* (
    id: WebhookId,
    eventIds: ReadonlyArray<string>,
    lanes: ReadonlyArray<string>,
  ) {
    const [ids, names] = [JSON.stringify(eventIds), JSON.stringify(lanes)];
    const found = yield* Effect.flatMap(
      sql`
        SELECT event_id AS known, NULL AS blocked FROM webhook_deliveries
        WHERE webhook_id = ${id} AND event_id ${isAmong(ids)}
        UNION ALL
        SELECT NULL, lane FROM webhook_deliveries
        WHERE webhook_id = ${id} AND lane IS NOT NULL AND lane ${isAmong(names)}
        UNION ALL
        SELECT NULL, other_lane FROM webhook_deliveries
        WHERE webhook_id = ${id} AND other_lane IS NOT NULL AND other_lane ${isAmong(names)}`,
      readLooks,
    );
    return {
      known: named(found.map(({ known }) => known)),
      blocked: named(found.map(({ blocked }) => blocked)),
    };
  });
};

const named = (values: ReadonlyArray<string | null>): ReadonlyArray<string> => [
  ...new Set(values.filter((value) => value !== null)),
];

const Text = Schema.NullOr(Schema.String);
const readLooks = schemaReaderOf(
  "webhook_deliveries",
  Schema.Struct({ known: Text, blocked: Text }),
  (look) => look,
);

const sendPendingOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* (id: WebhookId, at: Millis) {
    // Lock the webhook before its deliveries. `record` uses the same order, and another order could cause a deadlock.
    yield* sql`SELECT id FROM webhooks WHERE id = ${id} ${forUpdate}`;
    yield* sql`
      UPDATE webhook_deliveries SET next_attempt_at = ${at}, resends = resends + 1
      WHERE webhook_id = ${id} AND next_attempt_at > ${at}`;
  }, sql.withTransaction);
};

const recordOn = (sql: SqlClient.SqlClient) => {
  const { rowsWritten } = dialectOf(sql);
  const { upsert, freeLanes } = deliveryStatements(sql);
  return Effect.fnUntraced(function* (write: RecordDeliveries) {
    const { id, node, at, position, deliveries, freedLanes, deliveredAt, failedAt } = write;
    const times =
      deliveredAt === null
        ? sql`failing_since = COALESCE(failing_since, ${failedAt})`
        : sql`last_delivered_at = ${deliveredAt}, failing_since = ${failedAt}`;
    const held = yield* sql`
      UPDATE webhooks SET position = ${position}, ${times} WHERE id = ${id} AND holder = ${node}`.raw;
    if (rowsWritten(held) === 0) return false;
    if (deliveries.length > 0) yield* upsert(id, deliveries);
    yield* freeLanes(id, freedLanes, at);
    return true;
  }, sql.withTransaction);
};

const recordRequestedOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  const { upsert, freeLanes } = deliveryStatements(sql);
  return Effect.fnUntraced(function* (attempt: RequestedAttempt) {
    const { id, delivery, endedAt } = attempt;
    const found = yield* sql`SELECT id FROM webhooks WHERE id = ${id} ${forUpdate}`;
    if (found.length === 0) return undefined;
    const [before] = yield* Effect.flatMap(
      sql`
        SELECT ${deliveryColumns} FROM webhook_deliveries WHERE webhook_id = ${id} AND event_id = ${delivery.eventId}`,
      readDeliveries,
    );
    const after = resent(attempt, before);
    yield* upsert(id, [after]);
    if (after.status !== "delivered") return after;
    yield* sql`UPDATE webhooks SET last_delivered_at = ${endedAt}, failing_since = NULL WHERE id = ${id}`;
    yield* freeLanes(id, before?.lanes ?? [], endedAt);
    return after;
  }, sql.withTransaction);
};

const deliveryStatements = (sql: SqlClient.SqlClient) => {
  const { elements } = dialectOf(sql);

  const upsert = (id: WebhookId, deliveries: ReadonlyArray<StoredDelivery>) => sql`
    INSERT INTO webhook_deliveries (webhook_id, ${deliveryColumns})
    SELECT ${id}, value ->> 0, CAST(value ->> 1 AS BIGINT), value ->> 2, CAST(value ->> 3 AS BIGINT), value ->> 4,
      CAST(value ->> 5 AS BIGINT), CAST(value ->> 6 AS BIGINT), CAST(value ->> 7 AS BIGINT), value ->> 8,
      CAST(value ->> 9 AS BIGINT), value ->> 10, value ->> 11, CAST(value ->> 12 AS BIGINT),
      CAST(value ->> 13 AS BIGINT), value ->> 14
    FROM ${elements(JSON.stringify(deliveries.map(deliveryValues)))} WHERE true
    ON CONFLICT (webhook_id, event_id) DO UPDATE SET
      status = excluded.status, attempts = excluded.attempts, resends = excluded.resends,
      response_status = excluded.response_status, error = excluded.error,
      next_attempt_at = excluded.next_attempt_at, lane = excluded.lane, other_lane = excluded.other_lane,
      attempted_at = excluded.attempted_at, answered_at = excluded.answered_at,
      response_type = excluded.response_type`;

  /** Finds the delivery of this lane whose event is first in the feed. */
  const firstOf = Effect.fnUntraced(function* (id: WebhookId, lane: string) {
    const found = yield* Effect.forEach(["lane", "other_lane"], (column) =>
      Effect.flatMap(
        sql`
          SELECT ${deliveryColumns} FROM webhook_deliveries
          WHERE webhook_id = ${id} AND ${sql(column)} IS NOT NULL AND ${sql(column)} = ${lane}
          ORDER BY position LIMIT 1`,
        readDeliveries,
      ),
    );
    return found.flat().toSorted((one, other) => Number(one.position) - Number(other.position))[0];
  });

  const freeLanes = Effect.fnUntraced(function* (id: WebhookId, lanes: ReadonlyArray<string>, at: Millis) {
    for (const lane of lanes) {
      const first = yield* firstOf(id, lane);
      if (first === undefined || first.nextAttemptAt !== null) continue;
      const firsts = yield* Effect.forEach(first.lanes, (other) => firstOf(id, other));
      if (firsts.some((other) => other?.eventId !== first.eventId)) continue;
      yield* sql`
        UPDATE webhook_deliveries SET next_attempt_at = ${at}
        WHERE webhook_id = ${id} AND event_id = ${first.eventId}`;
    }
  });

  return { upsert, freeLanes };
};

const sweepOn = (sql: SqlClient.SqlClient) => {
  const { firstRows } = dialectOf(sql);
  const { freeLanes } = deliveryStatements(sql);
  const sweepSome = Effect.fnUntraced(function* (id: WebhookId, before: Millis) {
    // An event ID begins with the time of the event, so events older than `before` have IDs less than `first`.
    const first = `evt_${newUlid(before).slice(0, 10)}`;
    const old = firstRows({
      table: "webhook_deliveries",
      primaryKey: ["webhook_id", "event_id"],
      order: "event_id",
      condition: sql`webhook_id = ${id} AND event_id < ${first}`,
      limit: batchSize,
    });
    const swept = yield* Effect.flatMap(
      sql`DELETE FROM webhook_deliveries ${old} RETURNING ${deliveryColumns}`,
      readDeliveries,
    );
    yield* freeLanes(id, lanesOf(swept), before);
    return swept.length;
  }, sql.withTransaction);

  return Effect.fnUntraced(function* (before: Millis) {
    const ids = yield* Effect.flatMap(sql`SELECT id FROM webhooks ORDER BY id`, readIds);
    const counts = yield* Effect.forEach(ids, (id) => inBatches(sweepSome(id, before)));
    return counts.reduce((sum, count) => sum + count, 0);
  });
};

const readIds = columnReader("webhooks", "id", textAs<WebhookId>());
