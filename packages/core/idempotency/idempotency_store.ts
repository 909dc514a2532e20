import { Context, Effect, type Option } from "effect";
import { Conflict, type StoreEffect } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** A request with an idempotency key. */
export interface IdempotentWrite {
  /** A keyed hash of the API key and its idempotency key. */
  readonly id: string;
  /** A keyed hash of the request's content. */
  readonly fingerprint: string;
  /** The chat users that the request names. */
  readonly chatIds: ReadonlyArray<ChatId>;
  readonly at: Millis;
  /** The answer is kept until this time. */
  readonly endsAt: Millis;
}

/** A request that was answered earlier. */
export interface EarlierRequest {
  readonly fingerprint: string;
  /** The kept text; null after an erasure. */
  readonly answer: string | null;
  /** Whether a chat user of the request or of its answer was erased. */
  readonly isErased: boolean;
  readonly endsAt: Millis;
}

export interface KeptAnswer {
  readonly answer: string;
  /** The chat users that the answer names. */
  readonly chatIds: ReadonlyArray<ChatId>;
}

/**
 * Stores idempotency keys. A key is stored in the transaction of the write, together with its answer, so of several
 * requests with one key, one is stored and the others change nothing. Every operation is atomic.
 *
 * `UserStore.erase` erases all requests that name the erased user, with their answers. Of such a request, only the
 * hashes `id` and `fingerprint` stay stored until `endsAt`. A commit that names the user happens before the erasure,
 * which then erases it, or after it.
 */
export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * Runs a write and stores its answer in one transaction. If the write fails, nothing is stored, and this fails with
     * the error of the write. Waits up to a second while another request with the key is being stored. Changes nothing
     * and returns None if that takes longer, or if an earlier request has the key.
     *
     * @param write one operation of another storage port of the same adapter; returns its outcome and the answer
     * @param size `bulk` for a write that may take a minute
     */
    readonly commit: <O, E>(
      request: IdempotentWrite,
      write: Effect.Effect<readonly [outcome: O, answer: KeptAnswer], E>,
      size?: "bulk",
    ) => StoreEffect<Option.Option<O>, E>;

    /** Returns the stored request with a key, even if its time is over and it was not deleted yet. */
    readonly find: (id: IdempotentWrite["id"]) => StoreEffect<Option.Option<EarlierRequest>>;

    readonly sweep: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/IdempotencyStore") {}

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
