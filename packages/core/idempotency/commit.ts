import type { Effect } from "effect";
import type { Conflict, StoreUnavailable } from "../errors.ts";

/**
 * Commits a service's write together with the answer, which is made from the service's result. `Idempotency.begin`
 * creates this function for a request with an idempotency key, and `IdempotencyStore.commit` stores the write and the
 * answer in one transaction.
 *
 * @param write one operation of a store, which must be the only write of the request
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
