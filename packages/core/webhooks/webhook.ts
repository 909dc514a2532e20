/** The records of webhooks and of their deliveries. */
import type { AuditAction, AuditEntry } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import type { Millis } from "../timestamp.ts";

/** The public id of a webhook: `wh_` and 20 letters or digits. */
export type WebhookId = string & { readonly WebhookId: unique symbol };

/**
 * Whether the text has the form of the id of a webhook.
 *
 * @internal
 */
export const isWebhookId = (text: string): text is WebhookId => /^wh_[0-9A-Za-z]{20}$/.test(text);

/** A paused webhook keeps its events, and sends them when it is active again. */
export type WebhookStatus = "active" | "paused" | "disabled";

/** Why the service disabled a webhook: its receiver answered 410, or failed for five days. */
export type DisabledReason = "gone" | "failing";

/** Where the events of a scope are sent. */
export interface Webhook {
  readonly id: WebhookId;
  readonly scope: DataScope;
  readonly url: string;
  /** Which types of events are sent; empty for all. */
  readonly types: ReadonlyArray<string>;
  readonly description: string;
  readonly status: WebhookStatus;
  /** Null unless it is disabled. */
  readonly disabledReason: DisabledReason | null;
  readonly createdAt: Millis;
  readonly lastDeliveredAt: Millis | null;
  /** The first of the failures since the last delivery; null if there is none. */
  readonly failingSince: Millis | null;
}

/** A webhook with what its owner sees of its backlog. */
export interface WebhookDetails extends Webhook {
  /** How many events are not delivered and not given up. */
  readonly pending: number;
}

/** A secret that signs deliveries, encrypted. */
export interface WebhookSecret {
  readonly sealed: string;
  /** When it stops to sign; null for the present one. */
  readonly endsAt: Millis | null;
}

/** A webhook as a store keeps it, its newest secret last. */
export interface StoredWebhook extends Webhook {
  readonly secrets: ReadonlyArray<WebhookSecret>;
}

/** What an owner may change. */
export interface WebhookUpdate extends Partial<Pick<Webhook, "url" | "types" | "description">> {
  readonly status?: "active" | "paused";
}

/** A further secret of a webhook. */
export interface NextSecret {
  readonly sealed: string;
  /** When earlier secrets stop to sign. */
  readonly previousUntil: Millis;
}

/** What the owner changes, a rotation, or why the service disables an active or paused webhook. */
export type WebhookChange = WebhookUpdate | NextSecret | { readonly disabledReason: DisabledReason };

/**
 * A changed webhook, and the content of the audit entry.
 *
 * @internal
 */
export interface UpdatedWebhook<W> {
  readonly webhook: W;
  readonly action: Extract<AuditAction, `webhook.${string}`>;
  readonly details: AuditEntry["details"];
}

/** What became of an event at a webhook. `failing` is tried again at `nextAttemptAt`. */
export type DeliveryStatus = "delivered" | "failing" | "given_up";

export interface WebhookDelivery {
  readonly eventId: string;
  /** The type of the event. */
  readonly type: string;
  /** The time of the event. */
  readonly at: Millis;
  readonly attempts: number;
  readonly status: DeliveryStatus;
  /** Of the latest attempt; null if there was no answer. */
  readonly responseStatus: number | null;
  /** Why the latest attempt failed; null if it did not. */
  readonly error: DeliveryError | null;
  readonly nextAttemptAt: Millis | null;
}

/**
 * Why an attempt failed: an answer other than 2xx, none within ten seconds, a name without an address, an address
 * that is not public, a certificate that is not valid, or a connection that was refused or broke.
 */
export type DeliveryError = "status" | "timeout" | "name" | "address" | "certificate" | "connection";

const fields = ["url", "types", "description", "status"] as const satisfies ReadonlyArray<
  keyof WebhookUpdate
>;

/**
 * A webhook with its new values, and the content of the audit entry; null if nothing changes.
 *
 * @internal
 */
export const updatedWebhook = <W extends StoredWebhook>(
  webhook: W,
  change: WebhookChange,
  at: Millis,
): UpdatedWebhook<W> | null => {
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
  // A new start: the failures before it do not count.
  const restart = changed.includes("status") ? { disabledReason: null, failingSince: null } : {};
  return {
    webhook: { ...webhook, ...values, ...restart },
    action: "webhook.updated",
    details: { changed: changed.join(", ") },
  };
};

/** Secrets that have ended go. */
const rotatedSecrets = (
  secrets: ReadonlyArray<WebhookSecret>,
  { sealed, previousUntil }: NextSecret,
  at: Millis,
): ReadonlyArray<WebhookSecret> => [
  ...secrets.flatMap((secret) => {
    const endsAt = Math.min(secret.endsAt ?? Infinity, previousUntil);
    return endsAt > at ? [{ ...secret, endsAt }] : [];
  }),
  { sealed, endsAt: null },
];
