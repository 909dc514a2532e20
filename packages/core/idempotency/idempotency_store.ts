import { Context, Effect, type Option } from "effect";
import type { Conflict, StoreEffect } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

export interface IdempotentRequest {
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

export interface EarlierRequest {
  readonly fingerprint: string;
  /** The kept text; null after an erasure of a chat user of the request or of its answer. */
  readonly answer: string | null;
  readonly endsAt: Millis;
}

export interface KeptAnswer {
  readonly answer: string;
  /** The chat users that the answer names. */
  readonly chatIds: ReadonlyArray<ChatId>;
}

export interface Once extends IdempotentRequest {
  /** What the answer says besides the outcome of the write: an encrypted JSON object, such as the `sid` of a session. */
  readonly sealed?: string;
}

/** The context of a write that may have an idempotency key. */
export interface Keyed {
  /**
   * The store keeps the key and `keptOutcome` in the transaction of the write. With a refusal, it keeps nothing. If another
   * request has the key, or is being stored with it for a second, the write changes nothing and fails with `Conflict`
   * `idempotency_key_in_use`. A write without a key never fails with `Conflict`.
   */
  readonly once?: Once | undefined;
}

/** Returns what a store keeps of the outcome of a write. @internal */
export const keptOutcome = ({ sealed }: Once, result: unknown): KeptAnswer => {
  const { text, chatIds } = namesIn({ result, ...(sealed !== undefined && { given: sealed }) });
  return { answer: text, chatIds };
};

/** Returns the JSON text of a value, and the chat users that it names. @internal */
export const namesIn = (value: object) => {
  const chatIds = new Set<ChatId>();
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (/chatId$/i.test(name) && typeof part === "string") chatIds.add(part as ChatId);
    return part;
  });
  return { text, chatIds: [...chatIds] };
};

/** Removes the error that only a write with an idempotency key can have. @internal */
export const unkeyed = <A, E, R>(write: Effect.Effect<A, E | Conflict, R>) =>
  Effect.catchTag(write as Effect.Effect<A, Conflict | Exclude<E, Conflict>, R>, "Conflict", Effect.die);

/**
 * Stores idempotency keys with their answers. The stores of `Keyed` writes keep a key together with its write, so of
 * several requests with one key, one is stored and the others change nothing. Every operation is atomic.
 *
 * `UserStore.erase` erases all requests that name the erased user, with their answers. Of such a request, only the
 * hashes `id` and `fingerprint` stay stored until `endsAt`. A write that names the user happens before the erasure,
 * which then erases it, or after it.
 */
export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /** Keeps the answer of a request that writes nothing. Fails as a `Keyed` write does. */
    readonly keep: (request: IdempotentRequest, answer: KeptAnswer) => StoreEffect<void, Conflict>;

    /** Returns the stored request with a key, even if its time is over and it was not deleted yet. */
    readonly find: (id: IdempotentRequest["id"]) => StoreEffect<Option.Option<EarlierRequest>>;

    readonly sweep: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/IdempotencyStore") {}
