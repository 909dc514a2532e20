import type { StoredDelivery, StoredWebhook } from "@accountlink/core/webhooks";

/** A webhook with its deliveries and position. */
export interface MemoryWebhook extends StoredWebhook {
  readonly position: number;
  /** The node that sends the webhook; null for none. */
  readonly holder: string | null;
  /** Keyed by event ID. */
  readonly deliveries: Map<string, StoredDelivery>;
}
