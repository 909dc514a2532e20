/** Formats webhooks without their secrets. */
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import { mostPending, type WebhookDelivery, type WebhookDetails } from "@accountlink/core/webhooks";
import { DashboardWebhooks } from "@accountlink/http-api";
import { scopeText } from "../../cli/flags.ts";
import { tableOr } from "../../cli/output.ts";

export const webhookJson = (webhook: WebhookDetails) => ({
  ...DashboardWebhooks.webhookJson(webhook),
  account: webhook.scope.account,
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
      pending > mostPending ? `over ${mostPending}` : String(pending),
      timeOrNull(lastDeliveredAt) ?? "never",
    ]),
  );

export const deliveryJson = (delivery: WebhookDelivery) => ({
  ...DashboardWebhooks.deliveryJson(delivery),
  attemptedAt: timeOrNull(delivery.attemptedAt),
  answeredAt: timeOrNull(delivery.answeredAt),
  responseType: delivery.responseType,
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
