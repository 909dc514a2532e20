/** Rows of webhooks and their deliveries. */
import { GuildId, Pid } from "@accountlink/core";
import type {
  DeliveryError,
  DeliveryStatus,
  DisabledReason,
  HeldWebhook,
  StoredDelivery,
  StoredWebhook,
  WebhookId,
  WebhookStatus,
} from "@accountlink/core/webhooks";
import { Schema } from "effect";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

const OptionalInt = Schema.NullOr(Schema.Int);

const WebhookRow = Schema.Struct({
  id: Schema.String,
  pid: Pid,
  account: Schema.String,
  guild_id: Schema.NullOr(GuildId),
  url: Schema.String,
  types: Schema.fromJsonString(Schema.Array(Schema.String)),
  description: Schema.String,
  status: literalsOf<WebhookStatus>({ active: true, paused: true, disabled: true }),
  disabled_reason: Schema.NullOr(literalsOf<DisabledReason>({ gone: true, failing: true })),
  created_at: Schema.Int,
  last_delivered_at: OptionalInt,
  failing_since: OptionalInt,
  secrets: Schema.fromJsonString(Schema.Array(Schema.Struct({ sealed: Schema.String, endsAt: OptionalInt }))),
  position: Schema.Int,
});

const HeldRow = Schema.Struct({
  ...WebhookRow.fields,
  next_attempt_at: OptionalInt,
  oldest_failing_at: OptionalInt,
});

/** The columns of `readWebhooks`, from `webhookTables`. */
export const webhookColumns = `
  webhooks.id, webhooks.pid, scopes.account, scopes.guild_id, webhooks.url, webhooks.types, webhooks.description,
  webhooks.status, webhooks.disabled_reason, webhooks.created_at, webhooks.last_delivered_at, webhooks.failing_since,
  webhooks.secrets, webhooks.position`;

export const webhookTables = "webhooks JOIN scopes ON scopes.pid = webhooks.pid";

const webhookOf = ({ pid, account, guild_id, ...row }: typeof WebhookRow.Type): StoredWebhook => ({
  id: row.id as WebhookId,
  scope:
    guild_id === null ? { kind: "global", pid, account } : { kind: "guild", guildId: guild_id, pid, account },
  url: row.url,
  types: row.types,
  description: row.description,
  status: row.status,
  disabledReason: row.disabled_reason,
  createdAt: row.created_at,
  lastDeliveredAt: row.last_delivered_at,
  failingSince: row.failing_since,
  secrets: row.secrets,
});

/** Webhooks, each with its position in the feed. */
export const readWebhooks = schemaReaderOf("webhooks", WebhookRow, (row) => ({
  webhook: webhookOf(row),
  position: row.position,
}));

export const readHeldWebhooks = schemaReaderOf(
  "webhooks",
  HeldRow,
  (row): HeldWebhook => ({
    ...webhookOf(row),
    position: row.position,
    nextAttemptAt: row.next_attempt_at,
    oldestFailingAt: row.oldest_failing_at,
  }),
);

const DeliveryRow = Schema.Struct({
  event_id: Schema.String,
  position: OptionalInt,
  type: Schema.String,
  at: Schema.Int,
  status: literalsOf<DeliveryStatus | "waiting">({
    delivered: true,
    failing: true,
    given_up: true,
    waiting: true,
  }),
  attempts: Schema.Int,
  resends: Schema.Int,
  response_status: OptionalInt,
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
  next_attempt_at: OptionalInt,
  lane: Schema.NullOr(Schema.String),
  other_lane: Schema.NullOr(Schema.String),
});

/** The columns of `readDeliveries`. */
export const deliveryColumns = Object.keys(DeliveryRow.fields).join(", ");

/** The values of a delivery, in the order of `deliveryColumns`. */
export const deliveryValues = (delivery: StoredDelivery) => {
  const { eventId, position, type, at, status, attempts, resends, lanes } = delivery;
  const { responseStatus, error, nextAttemptAt } = delivery;
  const [lane = null, other = null] = lanes;
  return [
    eventId,
    position,
    type,
    at,
    status,
    attempts,
    resends,
    responseStatus,
    error,
    nextAttemptAt,
    lane,
    other,
  ];
};

export const readDeliveries = schemaReaderOf(
  "webhook_deliveries",
  DeliveryRow,
  (row): StoredDelivery => ({
    eventId: row.event_id,
    position: row.position,
    type: row.type,
    at: row.at,
    status: row.status,
    attempts: row.attempts,
    resends: row.resends,
    responseStatus: row.response_status,
    error: row.error,
    nextAttemptAt: row.next_attempt_at,
    lanes: [row.lane, row.other_lane].filter((lane) => lane !== null),
  }),
);
