/** Webhooks: records, ports, rules, and the delivery of events. */
export type { HoldItems } from "../records/records.ts";
export { headersOf, type SentEvent, signedText } from "./delivery/attempt.ts";
export * from "./delivery/webhook_couriers.ts";
export { isEventId, type SentDelivery } from "./sent_delivery.ts";
export * from "./stored_webhooks.ts";
export * from "./webhook.ts";
export * from "./webhook_sender.ts";
export * from "./webhook_store.ts";
export * from "./webhooks.ts";
