import { GuildId, Pid } from "@accountlink/core";
import type {
  DeliveryError,
  DeliveryStatus,
  DisabledReason,
  HeldWebhook,
  StoredDelivery,
  StoredWebhook,
  WebhookDetails,
  WebhookId,
  WebhookStatus,
} from "@accountlink/core/webhooks";
import { Schema } from "effect";
import { withScope } from "../keys/key_row.ts";
import { literalSql, literalsOf, tableOf, textAs } from "../statements/row.ts";

const OptionalInt = Schema.NullOr(Schema.Int);

const webhookFields = {
  id: textAs<WebhookId>(),
  pid: Pid,
  account: Schema.String,
  guildId: Schema.NullOr(GuildId),
  url: Schema.String,
  types: Schema.fromJsonString(Schema.Array(Schema.String)),
  description: Schema.String,
  status: literalsOf<WebhookStatus>({ active: true, paused: true, disabled: true }),
  disabledReason: Schema.NullOr(literalsOf<DisabledReason>({ gone: true, failing: true })),
  createdAt: Schema.Int,
  lastDeliveredAt: OptionalInt,
  failingSince: OptionalInt,
  secrets: Schema.fromJsonString(Schema.Array(Schema.Struct({ sealed: Schema.String, endsAt: OptionalInt }))),
};

export const webhookColumns = literalSql(`
  webhooks.id, webhooks.pid, scopes.account, scopes.guild_id, webhooks.url, webhooks.types, webhooks.description,
  webhooks.status, webhooks.disabled_reason, webhooks.created_at, webhooks.last_delivered_at, webhooks.failing_since,
  webhooks.secrets, webhooks.position`);

export const webhookTables = literalSql("webhooks JOIN scopes ON scopes.pid = webhooks.pid");

export const readWebhooks = tableOf("webhooks", webhookFields).reader(
  (webhook): StoredWebhook => withScope(webhook),
);

export const readWebhookDetails = tableOf("webhooks", { ...webhookFields, pending: Schema.Int }).reader(
  ({ secrets: _, ...webhook }): WebhookDetails => withScope(webhook),
);

const held = {
  ...webhookFields,
  position: Schema.Int,
  nextAttemptAt: OptionalInt,
  oldestFailingAt: OptionalInt,
};

export const readHeldWebhooks = tableOf("webhooks", held).reader(
  (webhook): HeldWebhook => withScope(webhook),
);

const { columns, rowOf, reader } = tableOf("webhook_deliveries", {
  eventId: Schema.String,
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
  lane: Schema.NullOr(Schema.String),
  otherLane: Schema.NullOr(Schema.String),
  attemptedAt: OptionalInt,
  answeredAt: OptionalInt,
  responseType: Schema.NullOr(Schema.String),
});

export const deliveryColumns = columns;

/** The values of a delivery, in the order of `deliveryColumns`. */
export const deliveryValues = ({ lanes, ...delivery }: StoredDelivery) => {
  const [lane = null, otherLane = null] = lanes;
  return Object.values(rowOf({ ...delivery, lane, otherLane }));
};

export const readDeliveries = reader(
  ({ lane, otherLane, ...delivery }): StoredDelivery => ({
    ...delivery,
    lanes: [lane, otherLane].filter((each) => each !== null),
  }),
);
