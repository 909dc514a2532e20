/** Writes that run once for each idempotency key. */
export * from "./commit.ts";
export * from "./idempotency.ts";
export * from "./idempotency_store.ts";
