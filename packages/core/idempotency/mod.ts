/** Writes that run once for each idempotency key. */
export { Idempotency, type NamedRequest } from "./idempotency.ts";
export * from "./idempotency_store.ts";
