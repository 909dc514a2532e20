/** Formats webhooks without their secrets. */
import { guildOf } from "@accountlink/core";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import type { WebhookDelivery, WebhookDetails } from "@accountlink/core/webhooks";
import { scopeText } from "../../cli/flags.ts";
import { tableOr } from "../../cli/output.ts";

export const webhookJson = ({ id, url, scope, ...webhook }: WebhookDetails) => ({
  id,
  url,
  account: scope.account,
  scope: scope.kind,
  guildId: guildOf(scope),
  pid: scope.pid,
  types: webhook.types,
  description: webhook.description,
  status: webhook.status,
  disabledReason: webhook.disabledReason,
  createdAt: formatTimestamp(webhook.createdAt),
  lastDeliveredAt: timeOrNull(webhook.lastDeliveredAt),
  failingSince: timeOrNull(webhook.failingSince),
  pending: webhook.pending,
});

export const webhookTable = (webhooks: ReadonlyArray<WebhookDetails>): string =>
  tableOr(
    "There are no webhooks",
    ["WEBHOOK", "ACCOUNT", "SCOPE", "URL", "STATUS", "PENDING", "LAST DELIVERED"],
    webhooks.map(({ id, scope, url, status, pending, lastDeliveredAt }) => [
      id,
      scope.account,
      scopeText(scope),
      url,
      status,
      String(pending),
      timeOrNull(lastDeliveredAt) ?? "never",
    ]),
  );

export const deliveryJson = ({
  at,
  attemptedAt,
  answeredAt,
  nextAttemptAt,
  ...delivery
}: WebhookDelivery) => ({
  ...delivery,
  at: formatTimestamp(at),
  attemptedAt: timeOrNull(attemptedAt),
  answeredAt: timeOrNull(answeredAt),
  nextAttemptAt: timeOrNull(nextAttemptAt),
});

export const deliveryTable = (deliveries: ReadonlyArray<WebhookDelivery>): string =>
  tableOr(
    "There are no deliveries",
    ["EVENT", "TYPE", "AT", "STATUS", "ATTEMPTS", "ANSWER", "NEXT ATTEMPT"],
    deliveries.map(({ eventId, type, at, status, attempts, responseStatus, error, nextAttemptAt }) => [
      eventId,
      type,
      formatTimestamp(at),
      status,
      String(attempts),
      String(responseStatus ?? error ?? "none"),
      timeOrNull(nextAttemptAt) ?? "none",
    ]),
  );
