import type { AuditEntry } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import type { Millis } from "../timestamp.ts";

/** The public id of a webhook: `wh_` and 20 letters or digits. */
export type WebhookId = string & { readonly WebhookId: unique symbol };

/** @internal */
export const isWebhookId = (text: string): text is WebhookId => /^wh_[0-9A-Za-z]{20}$/.test(text);

/** A paused webhook keeps its events, and sends them when it is active again. */
export type WebhookStatus = "active" | "paused" | "disabled";

/** Why the service disabled a webhook: its receiver answered 410, or failed for five days. */
export type DisabledReason = "gone" | "failing";

/** The destination of a scope's events. */
export interface Webhook {
  readonly id: WebhookId;
  readonly scope: DataScope;
  readonly url: string;
  /** The event types to send; empty for all. */
  readonly types: ReadonlyArray<string>;
  readonly description: string;
  readonly status: WebhookStatus;
  /** Why the webhook is disabled; null if it is not disabled. */
  readonly disabledReason: DisabledReason | null;
  readonly createdAt: Millis;
  readonly lastDeliveredAt: Millis | null;
  /** The time of the first failure since the last successful delivery or change of the status; null if none. */
  readonly failingSince: Millis | null;
}

export interface WebhookDetails extends Webhook {
  /** The number of events that are neither delivered nor given up, up to `mostPending`; one more if there are more. */
  readonly pending: number;
}

/** Up to this number, the events that wait for a webhook are counted. @internal */
export const mostPending = 1_000;

/** How many events after its position are searched for those of a webhook's types, to count them. @internal */
export const mostSearchedPending = 5_000;

/** An encrypted secret that signs deliveries. */
export interface WebhookSecret {
  readonly sealed: string;
  /** When the secret stops signing deliveries; null for the current secret. */
  readonly endsAt: Millis | null;
}

/** A stored webhook with its secrets, the newest last. */
export interface StoredWebhook extends Webhook {
  readonly secrets: ReadonlyArray<WebhookSecret>;
}

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

export interface WebhookDelivery {
  readonly eventId: string;
  readonly type: string;
  /** The time of the event. */
  readonly at: Millis;
  readonly attempts: number;
  readonly status: DeliveryStatus;
  /** The HTTP status of the answer to the latest attempt; null if there was no answer. */
  readonly responseStatus: number | null;
  /** Why the latest attempt failed; null if it did not fail. */
  readonly error: DeliveryError | null;
  readonly nextAttemptAt: Millis | null;
  /** When the latest attempt began; null if there was no attempt yet. */
  readonly attemptedAt: Millis | null;
  /** When the answer to the latest attempt arrived; null if there was no answer. */
  readonly answeredAt: Millis | null;
  /** The content type of the answer to the latest attempt; null if there was none. */
  readonly responseType: string | null;
}

/**
 * Why an attempt failed: a status other than 2xx, no answer within ten seconds, an unresolved name, an address that is
 * not public, an invalid certificate, or a refused or broken connection.
 */
export type DeliveryError = "status" | "timeout" | "name" | "address" | "certificate" | "connection";

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
  const changed = fields.filter(
    (field) =>
      change[field] !== undefined && JSON.stringify(change[field]) !== JSON.stringify(webhook[field]),
  );
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
  secrets: ReadonlyArray<WebhookSecret>,
  { sealed, previousUntil }: NextSecret,
  at: Millis,
): ReadonlyArray<WebhookSecret> => [
  ...secrets.slice(-1).flatMap((secret) => {
    const endsAt = Math.min(secret.endsAt ?? Infinity, previousUntil);
    return endsAt > at ? [{ ...secret, endsAt }] : [];
  }),
  { sealed, endsAt: null },
];
