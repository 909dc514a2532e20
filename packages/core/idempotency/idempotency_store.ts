/**
 * The port for idempotency keys. A request claims its key; the answer is stored with the write, in one transaction.
 */
import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** The request that holds an idempotency key. */
export interface Claim {
  /** A keyed hash of the API key and its idempotency key. */
  readonly id: string;
  readonly requestId: string;
  /** The chat users that it names. */
  readonly chatIds: ReadonlyArray<ChatId>;
}

export interface NewClaim extends Claim {
  /** A keyed hash of what is asked for. */
  readonly fingerprint: string;
  readonly at: Millis;
  /** Until when the request holds the key, unless it is extended. */
  readonly heldUntil: Millis;
  /** Until when it is remembered without an answer, so that an erasure of its chat users finds it. */
  readonly endsAt: Millis;
}

/** The request that claimed the key before. */
export interface EarlierRequest {
  readonly fingerprint: string;
  /** Its answer, encrypted; null while it is under way, and after an erasure. */
  readonly answer: string | null;
  /** Whether a chat user of the request or of its answer was erased. */
  readonly isErased: boolean;
}

export interface KeptAnswer {
  /** Encrypted, as text. */
  readonly answer: string;
  /** The chat users that it names. */
  readonly chatIds: ReadonlyArray<ChatId>;
  readonly endsAt: Millis;
}

/**
 * Where idempotency keys live. Every operation is atomic.
 *
 * `UserStore.erase` erases the requests that name its user, with their answers: whether answered, under way or without
 * an answer, they can no longer commit, and hold their key until their end. What is left of them are the two hashes.
 * A commit of a request with the user happens before the erasure, or not at all; a claim before the erasure, and then is
 * erased with it, or after it.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect, Option } from "effect";
 *
 * const claim = { id: "key and idempotency key, hashed", requestId: "req_1", chatIds: [] };
 * const first = { ...claim, fingerprint: "the request, hashed", at: 0, heldUntil: 6_000, endsAt: 86_400_000 };
 * const kept = { answer: "sealed", chatIds: [], endsAt: 86_400_000 };
 * const program = Effect.gen(function* () {
 *   const store = yield* IdempotencyStore;
 *   yield* store.claim(first);
 *   yield* store.commit(claim, Effect.succeed(["outcome", kept]));
 *   const earlier = yield* store.claim({ ...first, requestId: "req_2", at: 1_000 });
 *   return Option.map(earlier, ({ answer }) => answer);
 * });
 * await Effect.runPromise(Effect.provide(program, StorageMemory.layer)); // Option.some("sealed")
 * ```
 */
export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /** Claims a key. None if this request holds it now; a claim or answer that has ended holds nothing. */
    readonly claim: (claim: NewClaim) => Effect.Effect<Option.Option<EarlierRequest>, StoreUnavailable>;

    /** The last request that claimed a key, if it is remembered. */
    readonly find: (id: Claim["id"]) => Effect.Effect<Option.Option<EarlierRequest>, StoreUnavailable>;

    /** Moves the end of a claim. */
    readonly extend: (claim: Claim, heldUntil: Millis) => Effect.Effect<void, StoreUnavailable>;

    /**
     * Runs a write and stores its answer, both or neither. If the write fails, the failure is that of this operation.
     * None, without any change, if the request does not hold the key.
     *
     * @param write one operation of another storage port of the same adapter, and its answer
     * @param size `bulk` for a write that may take a minute
     */
    readonly commit: <O, E>(
      claim: Claim,
      write: Effect.Effect<readonly [outcome: O, answer: KeptAnswer], E>,
      size?: "bulk",
    ) => Effect.Effect<Option.Option<O>, E | StoreUnavailable>;

    /** Ends a claim that has no answer. It is remembered. */
    readonly release: (claim: Claim) => Effect.Effect<void, StoreUnavailable>;

    /** Deletes the requests that have ended. */
    readonly sweep: (at: Millis) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/IdempotencyStore") {}
