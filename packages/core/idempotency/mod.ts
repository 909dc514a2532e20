/** Writes that run once for each idempotency key. */
export { type Commit, commitAlone } from "./commit.ts";
export { type Begun, Idempotency, type IdempotentRequest } from "./idempotency.ts";
export * from "./idempotency_store.ts";
