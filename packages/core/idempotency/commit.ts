import { Effect, type Option } from "effect";
import { Conflict, type StoreEffect } from "../errors.ts";
import type { IdempotentWrite } from "./idempotency_store.ts";

/**
 * Runs a service's write, and stores the write and its result in one transaction. `Idempotency.begin` creates this
 * function for a request with an idempotency key. Fails with `Replayed` if the request was answered before.
 *
 * @param write one operation of a store, which must be the only write of the request
 * @param resultOf makes the service's result, a JSON value, from the operation's outcome
 */
export type Commit<A> = <O, E>(
  write: Effect.Effect<O, E>,
  resultOf: (outcome: O) => A,
  options?: CommitOptions<O, E>,
) => StoreEffect<O, E | Conflict>;

interface CommitOptions<O, E> {
  /** Work before the transaction of a write that may take a minute. */
  readonly ahead?: Effect.Effect<void, E>;
  /** Does the write and stores its result in one operation, if the store can. None if the key is taken. */
  readonly once?: ((request: IdempotentWrite) => Effect.Effect<Option.Option<O>, E>) | undefined;
}

/** Runs the write and stores no result. @internal */
export const commitAlone: Commit<unknown> = (write, _, { ahead } = {}) =>
  ahead === undefined ? write : Effect.andThen(ahead, write);

/**
 * The request was answered before, with this answer. Never reaches a client. It is a `Conflict`, so that services, which
 * only pass it on, name one error of a commit. @internal
 */
export class Replayed extends Conflict {
  readonly answer: unknown;

  constructor(answer: unknown) {
    super({ reason: "idempotency_key_reused" });
    this.answer = answer;
  }
}
