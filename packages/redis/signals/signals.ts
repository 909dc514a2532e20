import { Signals } from "@accountlink/core";
import { Effect, Layer, Queue } from "effect";
import type { Redis } from "ioredis";
import { RedisConnections } from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";

/**
 * `Signals` on Redis pub/sub: messages reach the subscribers of every node. All topics share one connection. A
 * reconnect renews the subscriptions; messages sent in between are lost.
 */
export const layer: Layer.Layer<Signals, never, RedisConnections> = Effect.gen(function* () {
  const { publisher, subscriber, prefix } = yield* RedisConnections;
  const channels = new Channels(subscriber);
  return Signals.of({
    publish: (topic, message) =>
      Effect.asVoid(runCommand("Signals.publish", () => publisher.publish(`${prefix}${topic}`, message))),
    subscribe: (topic) =>
      Effect.acquireRelease(
        Effect.tap(Queue.unbounded<string>(), (queue) =>
          runCommand("Signals.subscribe", () => channels.join(`${prefix}${topic}`, queue)),
        ),
        (queue) =>
          Effect.sync(() => {
            channels.leave(`${prefix}${topic}`, queue);
            Queue.shutdownUnsafe(queue);
          }),
      ),
  });
}).pipe(Layer.effect(Signals));

interface Channel {
  readonly queues: Set<Queue.Queue<string>>;
  joining: number;
}

/** Shares one connection between subscriptions. It is subscribed to a channel while the channel has subscribers. */
class Channels {
  readonly #redis: Redis;
  readonly #channels = new Map<string, Channel>();

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on("message", (name, message) => this.#deliver(name, message));
    redis.on("ready", () => this.#renew());
  }

  /** Once this resolves, the queue gets every later message of the channel, and no earlier one. */
  async join(name: string, queue: Queue.Queue<string>): Promise<void> {
    const channel = this.#channels.get(name) ?? { queues: new Set(), joining: 0 };
    this.#channels.set(name, channel);
    channel.joining++;
    try {
      // Subscribes even if already subscribed: the confirmation proves that the connection works, and separates
      // earlier messages from later ones.
      await this.#redis.subscribe(name);
      channel.queues.add(queue);
    } finally {
      channel.joining--;
      this.#dropIfUnused(name, channel);
    }
  }

  leave(name: string, queue: Queue.Queue<string>): void {
    const channel = this.#channels.get(name);
    if (channel?.queues.delete(queue)) this.#dropIfUnused(name, channel);
  }

  #dropIfUnused(name: string, { queues, joining }: Channel): void {
    if (queues.size > 0 || joining > 0) return;
    this.#channels.delete(name);
    // Ignore the failure: a lost connection has no subscriptions.
    this.#redis.unsubscribe(name).catch(() => {});
  }

  #deliver(name: string, message: string): void {
    for (const queue of this.#channels.get(name)?.queues ?? []) Queue.offerUnsafe(queue, message);
  }

  #renew(): void {
    const names = [...this.#channels.keys()];
    // Ignore a failure: a connection that does not answer is replaced, and the new connection subscribes again.
    if (names.length > 0) this.#redis.subscribe(...names).catch(() => {});
  }
}
