import { Clock, Effect } from "effect";

const longestPause = 500;

/**
 * Makes an effect wait before it runs, nine times as long as its last run took. However often it is requested, it uses
 * at most a tenth of the time.
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
