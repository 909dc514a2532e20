/** Signals by Redis pub/sub. */
import { Signals } from "@accountlink/core";
import { Effect, Layer, Queue } from "effect";
import { RedisConnections } from "./connections.ts";
import { Channels } from "./internal/channels.ts";
import { ask } from "./internal/redis_failure.ts";

/**
 * Messages reach the subscribers of every node. All topics share one connection; when that comes back after a loss the
 * subscriptions come back with it, and what was published meanwhile is lost.
 */
export const layer: Layer.Layer<Signals, never, RedisConnections> = Layer.effect(
  Signals,
  Effect.gen(function* () {
    const { publisher, subscriber, prefix } = yield* RedisConnections;
    const channels = new Channels(subscriber);
    return Signals.of({
      publish: (topic, message) =>
        Effect.asVoid(ask("Signals.publish", () => publisher.publish(`${prefix}${topic}`, message))),
      subscribe: (topic) =>
        Effect.acquireRelease(
          Effect.tap(Queue.unbounded<string>(), (queue) =>
            ask("Signals.subscribe", () => channels.join(`${prefix}${topic}`, queue)),
          ),
          (queue) =>
            Effect.sync(() => {
              channels.leave(`${prefix}${topic}`, queue);
              Queue.shutdownUnsafe(queue);
            }),
        ),
    });
  }),
);
