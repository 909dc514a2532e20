/** Rules by which all adapters of `WebhookStore` update stored webhooks and deliveries. */
import type { AuditEntry } from "../audit/audit.ts";
import type { Millis } from "../timestamp.ts";
import type { Webhook } from "./webhook.ts";
import type { AttemptResult, RecordDeliveries, RequestedAttempt, StoredDelivery } from "./webhook_store.ts";

/** Returns whether a delivery must still be sent. @internal */
export const isPending = ({ status }: Pick<StoredDelivery, "status">): boolean =>
  status === "failing" || status === "waiting";

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
 *
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
 * Returns the `lastDeliveredAt` and `failingSince` of a webhook after new attempts.
 *
 * @internal
 */
export const timesAfter = (
  { lastDeliveredAt, failingSince }: Pick<Webhook, "lastDeliveredAt" | "failingSince">,
  { deliveredAt, failedAt }: Pick<RecordDeliveries, "deliveredAt" | "failedAt">,
): { readonly lastDeliveredAt: Millis | null; readonly failingSince: Millis | null } =>
  deliveredAt === null
    ? { lastDeliveredAt, failingSince: failingSince ?? failedAt }
    : { lastDeliveredAt: deliveredAt, failingSince: failedAt };

/**
 * Returns the first pending delivery of a lane if it only waited for earlier deliveries, and is now the first in all of
 * its lanes. Returns undefined otherwise.
 *
 * @param pending in the order of the feed
 *
 * @internal
 */
export const dueAfter = <D extends StoredDelivery>(
  lane: string,
  pending: ReadonlyArray<D>,
): D | undefined => {
  const firstOf = (name: string) => pending.find(({ lanes }) => lanes.includes(name));
  const first = firstOf(lane);
  const isDue = first?.nextAttemptAt === null && first.lanes.every((other) => firstOf(other) === first);
  return isDue ? first : undefined;
};

/**
 * Returns the details of an audit entry about a webhook. The URL is left out, because it may contain a secret.
 *
 * @internal
 */
export const webhookEntryDetails = (
  { id }: Pick<Webhook, "id">,
  more: AuditEntry["details"] = {},
): AuditEntry["details"] => ({ webhookId: id, ...more });
