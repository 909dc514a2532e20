/** Writes that run once for each idempotency key. */
export { Idempotency, type IdempotentRequest } from "./idempotency.ts";
export * from "./idempotency_store.ts";
