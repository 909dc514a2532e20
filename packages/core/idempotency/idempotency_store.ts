import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

export interface Claim {
  /** A keyed hash of the API key and its idempotency key. */
  readonly id: string;
  readonly requestId: string;
  /** The chat users that the request names. */
  readonly chatIds: ReadonlyArray<ChatId>;
}

export interface NewClaim extends Claim {
  /** A keyed hash of the request's content. */
  readonly fingerprint: string;
  readonly at: Millis;
  /** The claim ends at this time unless it is extended. */
  readonly heldUntil: Millis;
  /**
   * If the request gets no answer, it is deleted at this time. Until then, `UserStore.erase` finds the request if one
   * of its chat users is erased.
   */
  readonly endsAt: Millis;
}

/** The request that claimed the same key earlier. */
export interface EarlierRequest {
  readonly fingerprint: string;
  /** The encrypted answer; null while the request runs, and after an erasure. */
  readonly answer: string | null;
  /** Whether a chat user of the request or of its answer was erased. */
  readonly isErased: boolean;
}

export interface KeptAnswer {
  /** Encrypted text. */
  readonly answer: string;
  /** The chat users that the answer names. */
  readonly chatIds: ReadonlyArray<ChatId>;
  readonly endsAt: Millis;
}

/**
 * Stores idempotency keys. A request claims its key, and its answer is stored in the transaction of the write. Every
 * operation is atomic.
 *
 * `UserStore.erase` erases all requests that name the erased user, with their answers. Of such a request, only the
 * hashes `id` and `fingerprint` stay stored. The request can no longer commit, but it holds its key until `endsAt`. So
 * if the request claimed its key before the erasure, it commits before the erasure or not at all.
 */
export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * Claims a key. Returns None if this request now holds the key, else the request that claimed the key before. A key
     * is free again when its claim (`heldUntil`) or its stored answer (`endsAt`) has expired.
     */
    readonly claim: (claim: NewClaim) => Effect.Effect<Option.Option<EarlierRequest>, StoreUnavailable>;

    /** Returns the last request that claimed a key, if it is still stored. */
    readonly find: (id: Claim["id"]) => Effect.Effect<Option.Option<EarlierRequest>, StoreUnavailable>;

    readonly extend: (claim: Claim, heldUntil: Millis) => Effect.Effect<void, StoreUnavailable>;

    /**
     * Runs a write and stores its answer in one transaction. If the write fails, fails with the error of the write.
     * Changes nothing and returns None if the request does not hold the key.
     *
     * @param write one operation of another storage port of the same adapter; returns its outcome and the answer
     * @param size `bulk` for a write that may take a minute
     */
    readonly commit: <O, E>(
      claim: Claim,
      write: Effect.Effect<readonly [outcome: O, answer: KeptAnswer], E>,
      size?: "bulk",
    ) => Effect.Effect<Option.Option<O>, E | StoreUnavailable>;

    /** Ends a claim without an answer. The request stays stored. */
    readonly release: (claim: Claim) => Effect.Effect<void, StoreUnavailable>;

    readonly sweep: (at: Millis) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/IdempotencyStore") {}
