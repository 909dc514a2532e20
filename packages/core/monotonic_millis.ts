import { Clock, Effect } from "effect";

/** Returns the milliseconds of a monotonic clock. Only differences are meaningful. @internal */
export const monotonicMillisOf = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6;

/** Milliseconds of a monotonic clock. Only differences are meaningful. @internal */
export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.Clock, monotonicMillisOf);

/** Makes a function that runs an effect, and none of the next ones for so many milliseconds. @internal */
export const atMostEvery = (period: number) => {
  let ranAt = Number.NEGATIVE_INFINITY;
  return <E, R>(effect: Effect.Effect<void, E, R>): Effect.Effect<void, E, R> =>
    Effect.flatMap(monotonicMillis, (now) => {
      if (now < ranAt + period) return Effect.void;
      ranAt = now;
      return effect;
    });
};
