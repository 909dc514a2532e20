import { CacheMemory } from "@accountlink/cache-memory";
import { Signals } from "@accountlink/core";
import { Effect, Queue, Scope } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { signalsSuite } from "./mod.ts";

type Shape = Signals["Service"];

const memory = CacheMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (signals: Shape) => Partial<Shape>>> = {
  "every subscriber gets every message of its topic, in order": (signals) => ({
    publish: (topic, message) =>
      Effect.andThen(signals.publish(topic, message), signals.publish(topic, message)),
  }),
  "a subscriber gets nothing from before it subscribed": (signals) => {
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
  "a subscriber gets nothing after its scope closed, and the others go on": (signals) => ({
    subscribe: (topic) => Scope.provide(signals.subscribe(topic), Scope.makeUnsafe()),
  }),
  "a message reaches its topic alone, whatever text names it": (signals) => ({
    publish: (topic, message) => signals.publish(topic.trim(), message),
    subscribe: (topic) => signals.subscribe(topic.trim()),
  }),
};

test.describe("signalsSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => signalsSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, Signals, mistake);
    test.expect(await failingTitles((api) => signalsSuite({ name: "", layer, test: api }))).toContain(title);
  });
});
