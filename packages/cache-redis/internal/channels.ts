import { Queue } from "effect";
import type { Redis } from "ioredis";

interface Channel {
  readonly queues: Set<Queue.Queue<string>>;
  /** How many subscriptions are on their way. */
  joining: number;
}

/** Who listens to which channel, over one connection. Redis is subscribed to a channel as long as somebody listens. */
export class Channels {
  readonly #redis: Redis;
  readonly #channels = new Map<string, Channel>();

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on("message", (name, message) => this.#deliver(name, message));
    redis.on("ready", () => this.#renew());
  }

  /** From when this is done the queue gets every message of the channel, and none from before. */
  async join(name: string, queue: Queue.Queue<string>): Promise<void> {
    const channel = this.#channels.get(name) ?? { queues: new Set(), joining: 0 };
    this.#channels.set(name, channel);
    channel.joining++;
    try {
      // Also when Redis is subscribed already: that it confirms shows that the connection lives, and what it sent
      // before the confirmation is from before.
      await this.#redis.subscribe(name);
      channel.queues.add(queue);
    } finally {
      channel.joining--;
      this.#dropIfLeft(name, channel);
    }
  }

  leave(name: string, queue: Queue.Queue<string>): void {
    const channel = this.#channels.get(name);
    if (channel?.queues.delete(queue)) this.#dropIfLeft(name, channel);
  }

  #dropIfLeft(name: string, { queues, joining }: Channel): void {
    if (queues.size > 0 || joining > 0) return;
    this.#channels.delete(name);
    // Without a connection there is no subscription either.
    this.#redis.unsubscribe(name).catch(() => {});
  }

  #deliver(name: string, message: string): void {
    for (const queue of this.#channels.get(name)?.queues ?? []) Queue.offerUnsafe(queue, message);
  }

  #renew(): void {
    const names = [...this.#channels.keys()];
    // A connection that does not answer is given up, and the next one starts here again.
    if (names.length > 0) this.#redis.subscribe(...names).catch(() => {});
  }
}
