/** What storages keep of webhooks and their deliveries. */
import { Schema } from "effect";
import { Pid } from "../ids.ts";
import { type RecordOf, recordType, textAs } from "../records/record_type.ts";
import { deliveryStatuses, type WebhookId } from "./webhook.ts";
import type { StoredDelivery } from "./webhook_store.ts";

const time = Schema.NullOr(Schema.Int);
const text = Schema.NullOr(Schema.String);

/** @internal */
export const webhookRecords = recordType({
  name: "webhooks",
  fields: {
    id: textAs<WebhookId>(),
    pid: Pid,
    url: Schema.String,
    types: Schema.Array(Schema.String),
    description: Schema.String,
    status: Schema.Literals(["active", "paused", "disabled"]),
    disabledReason: Schema.NullOr(Schema.Literals(["gone", "failing"])),
    createdAt: Schema.Int,
    lastDeliveredAt: time,
    failingSince: time,
    secrets: Schema.Array(Schema.Struct({ sealed: Schema.String, endsAt: time })),
    position: Schema.Int,
    /** The node that sends the deliveries; null if no node does. */
    holder: text,
  },
  json: ["types", "secrets"],
  key: ["id"],
  indexes: {
    byScope: { fields: ["pid", "id"], group: 1 },
    byTime: { fields: ["createdAt", "id"] },
    byHolder: { fields: ["holder", "id"] },
  },
  isOfAccount: true,
  held: { index: "byHolder", nodes: "webhook_nodes" },
});

export type WebhookRecord = RecordOf<typeof webhookRecords>;

/** @internal */
export const webhookDeliveries = recordType({
  name: "webhook_deliveries",
  fields: {
    webhookId: textAs<WebhookId>(),
    eventId: Schema.String,
    position: time,
    type: Schema.String,
    at: Schema.Int,
    status: Schema.Literals([...deliveryStatuses, "waiting"]),
    attempts: Schema.Int,
    resends: Schema.Int,
    responseStatus: time,
    error: Schema.NullOr(
      Schema.Literals(["status", "timeout", "name", "address", "certificate", "connection"]),
    ),
    nextAttemptAt: time,
    lane: text,
    otherLane: text,
    attemptedAt: time,
    answeredAt: time,
    responseType: text,
  },
  key: ["webhookId", "eventId"],
  indexes: {
    byStatus: { fields: ["webhookId", "status", "eventId"] },
    /** Those that are neither delivered nor given up. */
    pending: {
      fields: ["webhookId", "at"],
      only: { field: "status", values: ["failing", "waiting"] },
    },
    due: { fields: ["webhookId", "nextAttemptAt"] },
    /** The pending ones in each lane, in the order of the feed. */
    lanes: { either: ["lane", "otherLane"], fields: ["webhookId", "position"], group: 1 },
  },
});

export type DeliveryRecord = RecordOf<typeof webhookDeliveries>;

export const lanesIn = ({ lane, otherLane }: DeliveryRecord) =>
  [lane, otherLane].filter((each) => each !== null);

const deliveryOf = ({ webhookId: _, lane: _lane, otherLane: _other, ...record }: DeliveryRecord) => record;

export const storedDelivery = (record: DeliveryRecord): StoredDelivery => ({
  ...deliveryOf(record),
  lanes: lanesIn(record),
});

/** @internal */
export const deliveryRecord = (
  webhookId: WebhookId,
  { lanes, ...delivery }: StoredDelivery,
): DeliveryRecord => {
  const [lane = null, otherLane = null] = lanes;
  return { webhookId, ...delivery, lane, otherLane };
};
