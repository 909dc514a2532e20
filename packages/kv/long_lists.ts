/** Long lists are read and decoded in parts, and the process does other work between them. */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Effect, Semaphore } from "effect";

/** How many items are decoded before the clock is read again. */
const partSize = 100;

/** How long a list is decoded without a pause, in milliseconds. */
const longestPart = 5;

/** How long a timer takes at least, in milliseconds. */
const shortestPause = 1;

/** Pauses by the clock of the machine, since a test's clock may stand still. */
export const pauseFor = (milliseconds: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    setTimeout(() => resume(Effect.void), milliseconds);
  });

/** One part is decoded at a time, so that lists that are read at once hold up the process no longer than one. */
const turn = Semaphore.makeUnsafe(1);

/** Maps the items of a list, which may be long, so that no more than half of the process goes to such lists. */
export const mapInParts = <A, B>(
  items: ReadonlyArray<A>,
  map: (item: A) => B,
): Effect.Effect<ReadonlyArray<B>> =>
  items.length <= partSize
    ? Effect.sync(() => items.map(map))
    : Effect.gen(function* () {
        const mapped: Array<B> = [];
        const decodePart = Effect.gen(function* () {
          const began = yield* monotonicMillis;
          let took = 0;
          while (mapped.length < items.length && took < longestPart) {
            for (const item of items.slice(mapped.length, mapped.length + partSize)) mapped.push(map(item));
            took = (yield* monotonicMillis) - began;
          }
          // As long as the process was busy.
          if (took >= shortestPause) yield* pauseFor(took);
        });
        while (mapped.length < items.length) yield* turn.withPermits(1)(decodePart);
        return mapped;
      });
