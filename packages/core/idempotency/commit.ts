import type { Effect } from "effect";
import type { Conflict, StoreUnavailable } from "../errors.ts";

/**
 * Commits the write of a service, with an answer that is made from the result of the service.
 *
 * @param write the one operation of a store that writes
 * @param resultOf the result of the service, from the outcome of that operation
 * @param size `bulk` for a write that may take a minute
 */
export type Commit<A> = <O, E>(
  write: Effect.Effect<O, E>,
  resultOf: (outcome: O) => A,
  size?: "bulk",
) => Effect.Effect<O, E | Conflict | StoreUnavailable>;

/**
 * Commits a write without an answer.
 *
 * @internal
 */
export const commitAlone: Commit<unknown> = (write) => write;
