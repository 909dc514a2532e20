import { Clock, Effect } from "effect";

const longestPause = 500;

/**
 * Returns an effect that first waits nine times as long as its previous run took, and then runs. So it uses at most a
 * tenth of the time, however often it is run.
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
