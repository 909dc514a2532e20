import { Clock, Effect } from "effect";

/** The time by a clock that nobody sets, in milliseconds. It is worth something only beside another of its times. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6,
);
