/**
 * The port that wakes whoever waits, on every node.
 */
import { Context, type Effect, type Queue, type Scope } from "effect";
import type { StoreUnavailable } from "../errors.ts";

/** Messages by topic. Delivery is at most once: a receiver heals a lost signal by reading again, slowly. */
export class Signals extends Context.Service<
  Signals,
  {
    /** Hands the message to everyone subscribed to the topic now. */
    readonly publish: (topic: string, message: string) => Effect.Effect<void, StoreUnavailable>;

    /** From when this is done, every message of the topic is in the queue, until the scope closes. */
    readonly subscribe: (
      topic: string,
    ) => Effect.Effect<Queue.Dequeue<string>, StoreUnavailable, Scope.Scope>;
  }
>()("@accountlink/core/Signals") {}
