/** How busy the process is, by how late its timers are. */
import { Context, Effect } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";

/** The part of a measurement in the average. One turn of the event loop says little of the next one. */
const weight = 0.2;

/** Measures how much later than asked a timer fires on average, in milliseconds. @internal */
export const ProcessLag = Context.Reference<Effect.Effect<number>>("@accountlink/core/ProcessLag", {
  defaultValue: () => {
    let average = 0;
    return Effect.flatMap(monotonicMillis, (began) =>
      Effect.map(Effect.andThen(Effect.sleep(1), monotonicMillis), (now) => {
        average += weight * (now - began - 1 - average);
        return average;
      }),
    );
  },
});
