import { Signals } from "@accountlink/core";
import { Effect, Layer, Queue } from "effect";

/** Messages reach only the subscribers of this process. */
export const layer: Layer.Layer<Signals> = Layer.sync(Signals, () => {
  const topics = new Topics();
  return Signals.of({
    publish: (topic, message) => Effect.sync(() => topics.publish(topic, message)),
    subscribe: (topic) =>
      Effect.acquireRelease(topics.subscribe(topic), (queue) =>
        Effect.sync(() => topics.unsubscribe(topic, queue)),
      ),
  });
});

/** Subscribers by topic. A topic exists while it has subscribers. */
export class Topics {
  readonly #subscribers = new Map<string, Set<Queue.Queue<string>>>();

  get size(): number {
    return this.#subscribers.size;
  }

  publish(topic: string, message: string): void {
    // The queues are unbounded, so an offer never waits.
    for (const queue of this.#subscribers.get(topic) ?? []) Queue.offerUnsafe(queue, message);
  }

  subscribe(topic: string): Effect.Effect<Queue.Queue<string>> {
    return Effect.tap(Queue.unbounded<string>(), (queue) =>
      Effect.sync(() => {
        const queues = this.#subscribers.get(topic) ?? new Set();
        this.#subscribers.set(topic, queues.add(queue));
      }),
    );
  }

  /** Shuts the queue down, which interrupts pending takes. */
  unsubscribe(topic: string, queue: Queue.Queue<string>): void {
    const queues = this.#subscribers.get(topic);
    queues?.delete(queue);
    if (queues?.size === 0) this.#subscribers.delete(topic);
    Queue.shutdownUnsafe(queue);
  }
}
