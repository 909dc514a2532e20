import { Clock, Effect } from "effect";

const longestPause = 500;

/**
 * Returns an effect that pauses each time before it runs: nine times as long as its previous run took, but at most half
 * a second. So short runs use at most a tenth of the time, however often the effect is repeated.
 *
 * @param least the shortest pause, in milliseconds
 */
export const paced = <E, R>(
  least: number,
  effect: Effect.Effect<unknown, E, R>,
): Effect.Effect<void, E, R> => {
  let pause = least;
  return Effect.gen(function* () {
    yield* Effect.sleep(pause);
    const begun = yield* Clock.currentTimeMillis;
    yield* effect;
    const took = (yield* Clock.currentTimeMillis) - begun;
    pause = Math.min(longestPause, Math.max(least, 9 * took));
  });
};
