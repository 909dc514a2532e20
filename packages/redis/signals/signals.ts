import { Signals } from "@accountlink/core";
import { Effect, Layer, Queue } from "effect";
import { RedisConnections } from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";
import { Channels } from "./channels.ts";

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
