import { CacheMemory } from "@accountlink/cache-memory";
import { Signals } from "@accountlink/core";
import { Effect, Queue, Scope } from "effect";
import { signalsSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(signalsSuite, CacheMemory.layer, Signals, {
  "every subscriber receives all messages of its topic in order": (signals) => ({
    publish: (topic, message) =>
      Effect.andThen(signals.publish(topic, message), signals.publish(topic, message)),
  }),
  "a subscriber receives no message from before its subscription": (signals) => {
    const last = new Map<string, string>();
    return {
      publish: (topic, message) => {
        last.set(topic, message);
        return signals.publish(topic, message);
      },
      subscribe: (topic) =>
        Effect.tap(signals.subscribe(topic), (queue) => {
          const message = last.get(topic);
          return message === undefined ? Effect.void : Queue.offer(queue as Queue.Queue<string>, message);
        }),
    };
  },
  "a subscription ends with its scope, and others continue": (signals) => ({
    subscribe: (topic) => Scope.provide(signals.subscribe(topic), Scope.makeUnsafe()),
  }),
  "topics keep every Unicode text distinct": (signals) => ({
    publish: (topic, message) => signals.publish(topic.trim(), message),
    subscribe: (topic) => signals.subscribe(topic.trim()),
  }),
});
