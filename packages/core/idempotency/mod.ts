/** Writes that run once for each idempotency key. */
export { type Commit, commitAlone, Replayed } from "./commit.ts";
export { Idempotency, type IdempotentRequest } from "./idempotency.ts";
export * from "./idempotency_store.ts";
