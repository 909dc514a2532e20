import { guildOf } from "@accountlink/core";
import type { EventType } from "@accountlink/core/events";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import type { WebhookDelivery, WebhookDetails } from "@accountlink/core/webhooks";

export const webhookJson = ({ id, url, scope, ...webhook }: WebhookDetails) => ({
  id,
  url,
  scope: scope.kind,
  guildId: guildOf(scope),
  pid: scope.pid,
  types: webhook.types as ReadonlyArray<EventType>,
  description: webhook.description,
  status: webhook.status,
  disabledReason: webhook.disabledReason,
  createdAt: formatTimestamp(webhook.createdAt),
  lastDeliveredAt: timeOrNull(webhook.lastDeliveredAt),
  failingSince: timeOrNull(webhook.failingSince),
  pending: webhook.pending,
});

export const deliveryJson = (delivery: WebhookDelivery) => ({
  eventId: delivery.eventId,
  type: delivery.type as EventType | "test",
  at: formatTimestamp(delivery.at),
  attempts: delivery.attempts,
  status: delivery.status,
  responseStatus: delivery.responseStatus,
  error: delivery.error,
  nextAttemptAt: timeOrNull(delivery.nextAttemptAt),
});
