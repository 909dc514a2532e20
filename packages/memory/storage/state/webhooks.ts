import type { StoredDelivery, StoredWebhook } from "@accountlink/core/webhooks";

/** A webhook with where its deliveries stand. */
export interface MemoryWebhook extends StoredWebhook {
  readonly position: number;
  /** The node that sends it; null for none. */
  readonly holder: string | null;
  /** By event. */
  readonly deliveries: Map<string, StoredDelivery>;
}
