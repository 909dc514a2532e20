/** Webhooks and their deliveries, as storages keep them and as owners see them. */
import { Schema, Struct } from "effect";
import { type AuditEntry, changedFields } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import { Pid } from "../ids.ts";
import { type RecordOf, recordType, textAs } from "../records/record_type.ts";
import type { Millis } from "../timestamp.ts";

const time = Schema.NullOr(Schema.Int);
const text = Schema.NullOr(Schema.String);

/** The public id of a webhook: `wh_` and 20 letters or digits. */
export type WebhookId = string & { readonly WebhookId: unique symbol };

/** @internal */
export const isWebhookId = (id: string): id is WebhookId => /^wh_[0-9A-Za-z]{20}$/.test(id);

/** @internal */
export const webhookRecords = recordType({
  name: "webhooks",
  fields: {
    id: textAs<WebhookId>(),
    pid: Pid,
    url: Schema.String,
    /** The event types to send; empty for all. */
    types: Schema.Array(Schema.String),
    description: Schema.String,
    /** A paused webhook keeps its events, and sends them when it is active again. */
    status: Schema.Literals(["active", "paused", "disabled"]),
    /** Why the service disabled the webhook: its receiver answered 410, or failed for five days. Null if it did not. */
    disabledReason: Schema.NullOr(Schema.Literals(["gone", "failing"])),
    createdAt: Schema.Int,
    lastDeliveredAt: time,
    /** The time of the first failure since the last successful delivery or change of the status; null if none. */
    failingSince: time,
    /** The encrypted secrets that sign deliveries, the newest last. `endsAt` is when one stops; null for the current one. */
    secrets: Schema.Array(Schema.Struct({ sealed: Schema.String, endsAt: time })),
    /** All events up to this position of the feed have been delivered, or have a stored delivery. */
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

export type DisabledReason = NonNullable<WebhookRecord["disabledReason"]>;

/** The destination of a scope's events. */
export interface Webhook extends Omit<WebhookRecord, "pid" | "secrets" | "position" | "holder"> {
  readonly scope: DataScope;
}

export interface WebhookDetails extends Webhook {
  /** The number of events that are neither delivered nor given up, up to `mostPending`; one more if there are more. */
  readonly pending: number;
  /** When the secret before the last rotation stops signing; null before the first rotation. */
  readonly previousSecretEndsAt: Millis | null;
}

/** Up to this number, the events that wait for a webhook are counted. @internal */
export const mostPending = 1_000;

/** How many events after its position are read to count the ones of a webhook's types. @internal */
export const mostSearchedPending = 5_000;

export interface StoredWebhook extends Webhook, Pick<WebhookRecord, "secrets"> {}

/** Fields that an owner may change. */
export interface WebhookUpdate extends Partial<Pick<Webhook, "url" | "types" | "description">> {
  readonly status?: "active" | "paused";
}

export interface NextSecret {
  readonly sealed: string;
  /** When earlier secrets stop signing. */
  readonly previousUntil: Millis;
}

/**
 * The fields that an owner changes, a new secret, or the reason for which the service disables an active or paused
 * webhook.
 */
export type WebhookChange = WebhookUpdate | NextSecret | { readonly disabledReason: DisabledReason };

/** @internal */
export const deliveryStatuses = ["delivered", "failing", "given_up"] as const;

/** The delivery status of an event. `failing` deliveries are tried again at `nextAttemptAt`. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/**
 * Why an attempt failed: a status other than 2xx, no answer within ten seconds, an unresolved name, an address that is
 * not public, an invalid certificate, or a refused or broken connection. @internal
 */
export const deliveryErrors = ["status", "timeout", "name", "address", "certificate", "connection"] as const;

export type DeliveryError = (typeof deliveryErrors)[number];

/** @internal */
export const webhookDeliveries = recordType({
  name: "webhook_deliveries",
  fields: {
    webhookId: textAs<WebhookId>(),
    eventId: Schema.String,
    /** The event's position in the feed; null for a test event. */
    position: time,
    type: Schema.String,
    /** The time of the event. */
    at: Schema.Int,
    /** A `waiting` delivery has not been tried, because an earlier event in one of its lanes is not delivered yet. */
    status: Schema.Literals([...deliveryStatuses, "waiting"]),
    attempts: Schema.Int,
    /** The number of attempts that were requested. These do not count toward the schedule of attempts. */
    resends: Schema.Int,
    /** The HTTP status of the answer to the latest attempt; null if there was no answer. */
    responseStatus: time,
    /** Why the latest attempt failed; null if it did not fail. */
    error: Schema.NullOr(Schema.Literals(deliveryErrors)),
    nextAttemptAt: time,
    lane: text,
    otherLane: text,
    /** When the latest attempt began; null if there was no attempt yet. */
    attemptedAt: time,
    /** When the answer to the latest attempt arrived; null if there was no answer. */
    answeredAt: time,
    /** The content type of the answer to the latest attempt; null if there was none. */
    responseType: text,
  },
  key: ["webhookId", "eventId"],
  indexes: {
    byStatus: { fields: ["webhookId", "status", "eventId"], isNamed: true },
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

export interface StoredDelivery extends Omit<DeliveryRecord, "webhookId" | "lane" | "otherLane"> {
  /**
   * The lanes of the event, which are pseudonyms of its chat users, at most two. Events that share a lane are sent in
   * order. The list is empty once the event is delivered or given up.
   */
  readonly lanes: ReadonlyArray<string>;
}

/** A delivery as owners see it. */
export interface WebhookDelivery extends Omit<StoredDelivery, "status" | "position" | "resends" | "lanes"> {
  readonly status: DeliveryStatus;
}

/** @internal */
export const lanesIn = ({ lane, otherLane }: DeliveryRecord) =>
  [lane, otherLane].filter((each) => each !== null);

/** @internal */
export const storedDelivery = (record: DeliveryRecord): StoredDelivery => ({
  ...Struct.omit(record, ["webhookId", "lane", "otherLane"]),
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

const fields = ["url", "types", "description", "status"] as const satisfies ReadonlyArray<
  keyof WebhookUpdate
>;

/** Returns a webhook with its new values and the content of the audit entry; null if nothing changes. @internal */
export const updatedWebhook = <W extends Omit<StoredWebhook, "scope">>(
  webhook: W,
  change: WebhookChange,
  at: Millis,
): (Pick<AuditEntry, "action" | "details"> & { readonly webhook: W }) | null => {
  if ("sealed" in change) {
    const secrets = rotatedSecrets(webhook.secrets, change, at);
    return { webhook: { ...webhook, secrets }, action: "webhook.rotated", details: {} };
  }
  if ("disabledReason" in change) {
    const { disabledReason: reason } = change;
    return webhook.status === "disabled"
      ? null
      : {
          webhook: { ...webhook, status: "disabled", disabledReason: reason },
          action: "webhook.disabled",
          details: { reason },
        };
  }
  const changed = changedFields(fields, webhook, change);
  if (changed.length === 0) return null;
  const values = Object.fromEntries(changed.map((field) => [field, change[field]]));
  // After a change of the status, earlier failures no longer count toward disabling the webhook.
  const restart = changed.includes("status") ? { disabledReason: null, failingSince: null } : {};
  return {
    webhook: { ...webhook, ...values, ...restart },
    action: "webhook.updated",
    details: { changed: changed.join(", ") },
  };
};

/**
 * Adds a new secret, and sets when the latest earlier one stops signing. All others go, so that no number of rotations
 * makes a longer signature.
 */
const rotatedSecrets = (
  secrets: StoredWebhook["secrets"],
  { sealed, previousUntil }: NextSecret,
  at: Millis,
): StoredWebhook["secrets"] => [
  ...secrets.slice(-1).flatMap((secret) => {
    const endsAt = Math.min(secret.endsAt ?? Infinity, previousUntil);
    return endsAt > at ? [{ ...secret, endsAt }] : [];
  }),
  { sealed, endsAt: null },
];
