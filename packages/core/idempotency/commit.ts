import type { Effect } from "effect";
import type { Conflict, StoreUnavailable } from "../errors.ts";

/**
 * Commits a service's write together with an answer made from the service's result. `Idempotency.begin` makes it for a
 * request with an idempotency key, and `IdempotencyStore.commit` stores write and answer in one transaction.
 *
 * @param write one operation of a store, the only one that writes
 * @param resultOf makes the service's result from the operation's outcome
 * @param size `bulk` for a write that may take a minute
 */
export type Commit<A> = <O, E>(
  write: Effect.Effect<O, E>,
  resultOf: (outcome: O) => A,
  size?: "bulk",
) => Effect.Effect<O, E | Conflict | StoreUnavailable>;

/** Runs the write and stores no answer. @internal */
export const commitAlone: Commit<unknown> = (write) => write;
