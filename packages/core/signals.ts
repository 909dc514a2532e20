import { Context, Effect, Queue, Schedule, type Scope } from "effect";
import type { StoreEffect, StoreUnavailable } from "./errors.ts";

/**
 * Publish and subscribe by topic. A message is delivered at most once and can be lost, so receivers must also poll for
 * the changes that messages report.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import { Effect, Queue } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const signals = yield* Signals;
 *   const messages = yield* signals.subscribe("deploys");
 *   yield* signals.publish("deploys", "0.1.0");
 *   return yield* Queue.take(messages);
 * });
 * await Effect.runPromise(Effect.scoped(Effect.provide(program, CacheMemory.layer))); // "0.1.0"
 * ```
 */
export class Signals extends Context.Service<
  Signals,
  {
    /** Sends the message to the current subscribers of the topic, on every node. */
    readonly publish: (topic: string, message: string) => StoreEffect<void>;

    /** Subscribes until the scope closes. The queue gets every later message of the topic. */
    readonly subscribe: (
      topic: string,
    ) => Effect.Effect<Queue.Dequeue<string>, StoreUnavailable, Scope.Scope>;
  }
>()("@accountlink/core/Signals") {}

const retryInterval = "1 second";

/** Handles every message of a topic until the scope closes. A failed subscription is retried. */
export const forEachSignal = (
  topic: string,
  handle: (message: string) => void,
): Effect.Effect<void, never, Signals | Scope.Scope> =>
  Effect.gen(function* () {
    const messages = yield* (yield* Signals).subscribe(topic);
    while (true) handle(yield* Queue.take(messages));
  }).pipe(
    Effect.scoped,
    Effect.retry(Schedule.spaced(retryInterval)),
    Effect.forkScoped({ startImmediately: true }),
    Effect.asVoid,
  );
