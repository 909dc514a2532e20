import { Effect, Queue } from "effect";

/** Who listens to what. A topic exists as long as somebody does. */
export class Topics {
  readonly #subscribers = new Map<string, Set<Queue.Queue<string>>>();

  /** How many topics have subscribers. */
  get size(): number {
    return this.#subscribers.size;
  }

  publish(topic: string, message: string): void {
    for (const queue of this.#subscribers.get(topic) ?? []) Queue.offerUnsafe(queue, message);
  }

  /** A new queue that every message of the topic goes to from now on. */
  subscribe(topic: string): Effect.Effect<Queue.Queue<string>> {
    return Effect.tap(Queue.unbounded<string>(), (queue) =>
      Effect.sync(() => {
        const queues = this.#subscribers.get(topic);
        if (queues === undefined) this.#subscribers.set(topic, new Set([queue]));
        else queues.add(queue);
      }),
    );
  }

  /** Ends the queue, and with it whoever still waits on it. */
  unsubscribe(topic: string, queue: Queue.Queue<string>): void {
    const queues = this.#subscribers.get(topic);
    queues?.delete(queue);
    if (queues?.size === 0) this.#subscribers.delete(topic);
    Queue.shutdownUnsafe(queue);
  }
}
