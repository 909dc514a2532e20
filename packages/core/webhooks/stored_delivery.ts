/** Rules by which all adapters of `WebhookStore` update stored webhooks and deliveries. */
import type { AuditEntry } from "../audit/audit.ts";
import type { Webhook } from "./webhook.ts";
import type { AttemptResult, RequestedAttempt, StoredDelivery } from "./webhook_store.ts";

/** Returns the lanes of all given deliveries, without duplicates. @internal */
export const lanesOf = (deliveries: ReadonlyArray<Pick<StoredDelivery, "lanes">>): ReadonlyArray<string> => [
  ...new Set(deliveries.flatMap(({ lanes }) => lanes)),
];

/** Returns the fields of a delivery that describe its latest attempt. @internal */
export const answerOf = ({ status, type, error, attemptedAt, endedAt }: AttemptResult) => ({
  responseStatus: status,
  responseType: type,
  error,
  attemptedAt,
  answeredAt: status === null ? null : endedAt,
});

/**
 * Returns the delivery with the result of an attempt that was requested. If the attempt of a failing delivery fails,
 * the scheduled attempts continue.
 *
 * @param stored the delivery that is stored now, which a scheduled attempt may have changed since `attempt.delivery`
 * was read; undefined if no delivery is stored
 * @internal
 */
export const resent = (
  attempt: RequestedAttempt,
  stored: StoredDelivery = attempt.delivery,
): StoredDelivery => {
  const { delivery, error } = attempt;
  const latest = {
    ...stored,
    attempts: stored.attempts + 1,
    resends: stored.resends + 1,
    ...answerOf(attempt),
  };
  if (error === null) return { ...latest, status: "delivered", nextAttemptAt: null, lanes: [] };
  return delivery.status === "failing" ? latest : { ...latest, status: "given_up", nextAttemptAt: null };
};

/**
 * Returns the details of an audit entry about a webhook. The URL is left out, because it may contain a secret.
 * @internal
 */
export const webhookEntryDetails = (
  { id }: Pick<Webhook, "id">,
  more: AuditEntry["details"] = {},
): AuditEntry["details"] => ({ webhookId: id, ...more });
