/** Long lists are read and decoded in parts, and the process does other work between them. */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Effect } from "effect";

/** How many items are decoded before the clock is read again. */
const partSize = 100;

/** How long a list is decoded without a pause, in milliseconds. */
const longestPart = 5;

/** Pauses by the clock of the machine, since a test's clock may stand still. */
export const pauseFor = (milliseconds: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    setTimeout(() => resume(Effect.void), milliseconds);
  });

/** Maps the items of a list, which may be long, so that no more than half of the process goes to it. */
export const mapInParts = <A, B>(
  items: ReadonlyArray<A>,
  map: (item: A) => B,
): Effect.Effect<ReadonlyArray<B>> =>
  items.length <= partSize
    ? Effect.sync(() => items.map(map))
    : Effect.gen(function* () {
        const mapped: Array<B> = [];
        let began = yield* monotonicMillis;
        for (let start = 0; start < items.length; start += partSize) {
          for (const item of items.slice(start, start + partSize)) mapped.push(map(item));
          const took = (yield* monotonicMillis) - began;
          if (took < longestPart) continue;
          // As long as the process was busy.
          yield* pauseFor(took);
          began = yield* monotonicMillis;
        }
        return mapped;
      });
