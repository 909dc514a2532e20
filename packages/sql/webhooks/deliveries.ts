/** The operations of `WebhookStore` on deliveries. */

import { newUlid } from "@accountlink/core/ids";
import { textAs } from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import {
  type DeliveryError,
  type DeliveryStatus,
  deliveryStatuses,
  lanesOf,
  resent,
  type StoredDelivery,
  type WebhookId,
  type WebhookStore,
} from "@accountlink/core/webhooks";
import { Array as Arr, Effect, Option, Schema } from "effect";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { mergedPage } from "../statements/merged_page.ts";
import {
  columnReader,
  literalsOf,
  OptionalInt,
  OptionalText,
  schemaReaderOf,
  tableOf,
} from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";

export const deliveryOperations = ({
  sql,
  operation,
  transaction,
  elements,
  firstRows,
  forUpdate,
  isAmong,
  wrote,
}: StoreParts) => {
  const find = (id: WebhookId, eventId: string) =>
    readDeliveries(sql`
      SELECT ${deliveryColumns} FROM webhook_deliveries WHERE webhook_id = ${id} AND event_id = ${eventId}`);

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
      readDeliveries(sql`
        SELECT ${deliveryColumns} FROM webhook_deliveries
        WHERE webhook_id = ${id} AND ${sql(column)} IS NOT NULL AND ${sql(column)} = ${lane}
        ORDER BY position LIMIT 1`),
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

  const sweepSome = Effect.fnUntraced(function* (id: WebhookId, before: Millis) {
    const first = firstEventOf(before);
    const old = firstRows({
      table: "webhook_deliveries",
      primaryKey: ["webhook_id", "event_id"],
      order: "event_id",
      condition: sql`webhook_id = ${id} AND event_id < ${first}`,
      limit: batchSize,
    });
    const swept = yield* readDeliveries(
      sql`DELETE FROM webhook_deliveries ${old} RETURNING ${deliveryColumns}`,
    );
    yield* freeLanes(id, lanesOf(swept), before);
    return swept.length;
  }, sql.withTransaction);

  return {
    /**
     * Reads a page of each listed status, and merges the pages. Waiting deliveries are not listed. After an outage, a
     * scan of all statuses would have to skip many of them.
     */
    deliveries: operation("deliveries", (id, { status, before, limit }) => {
      assertStorable([before ?? ""]);
      // Compare and sort by status and event ID together, as the index is sorted. With `status = …` and an order by
      // event ID alone, Postgres may scan all deliveries, starting with the newest.
      const having = (one: DeliveryStatus) => sql`
        SELECT * FROM (
          SELECT ${deliveryColumns} FROM webhook_deliveries
          WHERE webhook_id = ${id} AND status >= ${one} AND (status, event_id) < (${one}, ${before ?? afterAll})
          ORDER BY status DESC, event_id DESC LIMIT ${limit}
        ) AS having_it`;
      const shown = status === null ? deliveryStatuses : [status];
      return readDeliveries(mergedPage(sql, shown.map(having), sql`ORDER BY event_id DESC LIMIT ${limit}`));
    }),

    findDelivery: operation("findDelivery", (id, eventId) => {
      assertStorable([eventId]);
      return Effect.map(find(id, eventId), Arr.head);
    }),

    look: operation("look", function* (id, eventIds, lanes) {
      const [ids, names] = [JSON.stringify(eventIds), JSON.stringify(lanes)];
      const found = yield* readLooks(sql`
        SELECT event_id AS known, NULL AS blocked FROM webhook_deliveries
        WHERE webhook_id = ${id} AND event_id ${isAmong(ids)}
        UNION ALL
        SELECT NULL, lane FROM webhook_deliveries
        WHERE webhook_id = ${id} AND lane IS NOT NULL AND lane ${isAmong(names)}
        UNION ALL
        SELECT NULL, other_lane FROM webhook_deliveries
        WHERE webhook_id = ${id} AND other_lane IS NOT NULL AND other_lane ${isAmong(names)}`);
      return {
        known: distinct(found.map(({ known }) => known)),
        blocked: distinct(found.map(({ blocked }) => blocked)),
      };
    }),

    due: operation("due", (id, at, limit) =>
      readDeliveries(sql`
        SELECT ${deliveryColumns} FROM webhook_deliveries
        WHERE webhook_id = ${id} AND next_attempt_at IS NOT NULL AND next_attempt_at <= ${at}
        ORDER BY next_attempt_at LIMIT ${limit}`),
    ),

    sendPending: transaction("sendPending", function* (id, at) {
      // Lock the webhook before its deliveries. `record` uses the same order, and another order could cause a deadlock.
      yield* sql`SELECT id FROM webhooks WHERE id = ${id} ${forUpdate}`;
      yield* sql`
        UPDATE webhook_deliveries SET next_attempt_at = ${at}, resends = resends + 1
        WHERE webhook_id = ${id} AND next_attempt_at > ${at}`;
    }),

    record: transaction("record", function* (write) {
      const { id, node, at, position, deliveries, freedLanes, deliveredAt, failedAt } = write;
      const times =
        deliveredAt === null
          ? sql`failing_since = COALESCE(failing_since, ${failedAt})`
          : sql`last_delivered_at = ${deliveredAt}, failing_since = ${failedAt}`;
      const held = sql`
        UPDATE webhooks SET position = ${position}, ${times} WHERE id = ${id} AND holder = ${node}`;
      if (!(yield* wrote(held))) return false;
      if (deliveries.length > 0) yield* upsert(id, deliveries);
      yield* freeLanes(id, freedLanes, at);
      return true;
    }),

    recordRequested: transaction("recordRequested", function* (attempt) {
      const { id, delivery, endedAt } = attempt;
      assertStorable([delivery.eventId]);
      const found = yield* sql`SELECT id FROM webhooks WHERE id = ${id} ${forUpdate}`;
      if (found.length === 0) return Option.none();
      const [before] = yield* find(id, delivery.eventId);
      const after = resent(attempt, before);
      yield* upsert(id, [after]);
      if (after.status !== "delivered") return Option.some(after);
      yield* sql`UPDATE webhooks SET last_delivered_at = ${endedAt}, failing_since = NULL WHERE id = ${id}`;
      yield* freeLanes(id, before?.lanes ?? [], endedAt);
      return Option.some(after);
    }),

    sweep: operation("sweep", function* (before) {
      // One entry of the primary key says whether a webhook has old deliveries.
      const ids = yield* readIds(sql`
        SELECT id FROM webhooks
        WHERE (SELECT MIN(event_id) FROM webhook_deliveries WHERE webhook_id = webhooks.id) < ${firstEventOf(before)}
        ORDER BY id`);
      const counts = yield* Effect.forEach(ids, (id) => inBatches(sweepSome(id, before)));
      return counts.reduce((sum, count) => sum + count, 0);
    }),
  } satisfies Partial<WebhookStore["Service"]>;
};

/** An event ID begins with the time of the event, so events older than a time have IDs less than this one. */
const firstEventOf = (time: Millis): string => `evt_${newUlid(time).slice(0, 10)}`;

/** A text that sorts after every event ID. */
const afterAll = "~";

const distinct = (values: ReadonlyArray<string | null>): ReadonlyArray<string> => [
  ...new Set(values.filter((value) => value !== null)),
];

const {
  columns: deliveryColumns,
  rowOf,
  reader,
} = tableOf("webhook_deliveries", {
  eventId: Schema.String,
  position: OptionalInt,
  type: Schema.String,
  at: Schema.Int,
  status: Schema.Literals([...deliveryStatuses, "waiting"]),
  attempts: Schema.Int,
  resends: Schema.Int,
  responseStatus: OptionalInt,
  error: Schema.NullOr(
    literalsOf<DeliveryError>({
      status: true,
      timeout: true,
      name: true,
      address: true,
      certificate: true,
      connection: true,
    }),
  ),
  nextAttemptAt: OptionalInt,
  lane: OptionalText,
  otherLane: OptionalText,
  attemptedAt: OptionalInt,
  answeredAt: OptionalInt,
  responseType: OptionalText,
});

/** The values of a delivery, in the order of `deliveryColumns`. */
const deliveryValues = ({ lanes, ...delivery }: StoredDelivery) => {
  const [lane = null, otherLane = null] = lanes;
  return Object.values(rowOf({ ...delivery, lane, otherLane }));
};

const readDeliveries = reader(
  ({ lane, otherLane, ...delivery }): StoredDelivery => ({
    ...delivery,
    lanes: [lane, otherLane].filter((each) => each !== null),
  }),
);

const readLooks = schemaReaderOf(
  "webhook_deliveries",
  Schema.Struct({ known: OptionalText, blocked: OptionalText }),
);

const readIds = columnReader("webhooks", "id", textAs<WebhookId>());
