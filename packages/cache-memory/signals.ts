/** Signals within one process. */
import { Signals } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { Topics } from "./internal/topics.ts";

/** Messages reach every subscriber of this process, and nobody else. */
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
