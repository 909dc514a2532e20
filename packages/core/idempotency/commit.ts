import type { Effect } from "effect";
import type { Conflict, StoreUnavailable } from "../errors.ts";

/**
 * Runs a service's write, and stores the write and the request's answer in one transaction. The answer is made from the
 * service's result. `Idempotency.begin` creates this function for a request with an idempotency key.
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
