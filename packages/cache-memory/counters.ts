/** Limits in memory. */
import { Counters } from "@accountlink/core";
import { Clock, Effect, Layer } from "effect";
import { Windows } from "./internal/windows.ts";

/** Counts that last as long as the process. Windows that are over are dropped as others begin. */
export const layer: Layer.Layer<Counters> = Layer.effect(
  Counters,
  Effect.map(Clock.currentTimeMillis, (startedAt) => {
    const windows = new Windows(startedAt);
    return Counters.of({
      admit: (rules, now) => Effect.sync(() => windows.admit(rules, now)),
      read: (rules, now) => Effect.sync(() => windows.read(rules, now)),
    });
  }),
);
