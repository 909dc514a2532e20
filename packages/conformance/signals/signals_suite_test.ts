import { CacheMemory } from "@accountlink/cache-memory";
import { Signals } from "@accountlink/core";
import { Effect, Queue, Scope } from "effect";
import * as test from "vitest";
import { signalsSuite } from "../mod.ts";
import { failingTitles, withMistake } from "../test_mistakes.ts";

type Shape = Signals["Service"];

const memory = CacheMemory.layer;

/** Mistakes of an adapter, by the case that must detect them. */
const mistakes: Readonly<Record<string, (signals: Shape) => Partial<Shape>>> = {
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
};

test.describe("signalsSuite", () => {
  test.it("passes on memory", async () => {
    test
      .expect(await failingTitles((api) => signalsSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("detects a mistake with: %s", async (title, mistake) => {
    const layer = withMistake(memory, Signals, mistake);
    test.expect(await failingTitles((api) => signalsSuite({ name: "", layer, test: api }))).toContain(title);
  });
});
