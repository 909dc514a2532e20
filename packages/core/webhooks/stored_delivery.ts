/** The rules of stored webhooks and deliveries, for adapters that keep them as records. */
import type { AuditEntry } from "../audit/audit.ts";
import type { Millis } from "../timestamp.ts";
import type { Webhook } from "./webhook.ts";
import type { RecordDeliveries, RequestedAttempt, StoredDelivery } from "./webhook_store.ts";

/**
 * Whether a delivery is still to be sent.
 *
 * @internal
 */
export const isPending = ({ status }: Pick<StoredDelivery, "status">): boolean =>
  status === "failing" || status === "waiting";

/**
 * The lanes of deliveries, each once.
 *
 * @internal
 */
export const lanesOf = (deliveries: ReadonlyArray<Pick<StoredDelivery, "lanes">>): ReadonlyArray<string> => [
  ...new Set(deliveries.flatMap(({ lanes }) => lanes)),
];

/**
 * A delivery after an attempt that somebody asked for. Its schedule goes on.
 *
 * @param stored the delivery as it is now: the schedule may have gone on during the attempt; undefined for none
 *
 * @internal
 */
export const resent = (
  { delivery, status, error }: RequestedAttempt,
  stored: StoredDelivery = delivery,
): StoredDelivery => {
  const latest = {
    ...stored,
    attempts: stored.attempts + 1,
    resends: stored.resends + 1,
    responseStatus: status,
    error,
  };
  if (error === null) return { ...latest, status: "delivered", nextAttemptAt: null, lanes: [] };
  return delivery.status === "failing" ? latest : { ...latest, status: "given_up", nextAttemptAt: null };
};

/**
 * The times of a webhook after deliveries were recorded.
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
 * The delivery of a lane that becomes due, since those before it are over; undefined if none does.
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
 * The details of an audit entry about a webhook. Without its URL, which may hold a secret.
 *
 * @internal
 */
export const webhookEntryDetails = (
  { id }: Pick<Webhook, "id">,
  more: AuditEntry["details"] = {},
): AuditEntry["details"] => ({ webhookId: id, ...more });
