/** Limits in memory. */
import { Counters } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { Windows } from "./internal/windows.ts";

/** Counts that last as long as the process. Windows that are over are dropped as others begin. */
export const layer: Layer.Layer<Counters> = Layer.sync(Counters, () => {
  const windows = new Windows();
  return Counters.of({
    admit: (rules, now) => Effect.sync(() => windows.admit(rules, now)),
    read: (rules, now) => Effect.sync(() => windows.read(rules, now)),
  });
});
