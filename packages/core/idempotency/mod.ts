/** Writes that run once for each idempotency key. */
export type { Commit } from "./commit.ts";
export { type Answer, type CommitAnswer, Idempotency, type IdempotentRequest } from "./idempotency.ts";
export * from "./idempotency_store.ts";
