/** Steps of long work, which wait for a platform or the store that does not answer. */
import { Clock, Data, Effect } from "effect";
import { retryDelay } from "../couriers/couriers.ts";
import type { PlatformUnavailable, StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/** The work must end before its next step, for example because its plan has changed. */
export class WorkOver extends Data.TaggedError("WorkOver") {}

type Unavailable = StoreUnavailable | PlatformUnavailable;

export interface PatientSteps {
  /** Fails with `WorkOver` if the work must end. */
  readonly goOn: Effect.Effect<void, WorkOver>;
  /** Tries a step again, from 5 seconds to 10 minutes apart, until it is answered or the work is over. */
  readonly step: <A, E>(step: Effect.Effect<A, E>) => Effect.Effect<A, Exclude<E, Unavailable> | WorkOver>;
}

/**
 * @param problem the log message for the first failure in a row
 * @param isOver whether the work must end, asked at least once a second; `failingFor` is the time since the last answer
 */
export const patientSteps = (
  problem: string,
  isOver: (failingFor: Millis) => Effect.Effect<boolean>,
): PatientSteps => {
  let failingSince: Millis | null = null;

  const goOn = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    if (yield* isOver(failingSince === null ? 0 : now - failingSince)) return yield* new WorkOver();
  });

  const waitUntil = Effect.fnUntraced(function* (time: Millis) {
    while (true) {
      yield* goOn;
      const left = time - (yield* Clock.currentTimeMillis);
      if (left <= 0) return;
      // Rounded up, because a clock of whole milliseconds never reaches a fraction of one.
      yield* Effect.sleep(Math.min(1_000, Math.ceil(left)));
    }
  });

  /** Waits after a failure, as long as the platform asks for. */
  const wait = Effect.fnUntraced(function* (startedAt: Millis, error: Unavailable) {
    if (failingSince === null) yield* Effect.logWarning(problem, error);
    failingSince ??= startedAt;
    const now = yield* Clock.currentTimeMillis;
    const { retryAfterMs = 0 } = error._tag === "PlatformUnavailable" ? error : {};
    yield* waitUntil(Math.max(startedAt + retryDelay(now - failingSince), now + retryAfterMs));
  });

  return {
    goOn,
    step: <A, E>(step: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        while (true) {
          yield* goOn;
          const startedAt = yield* Clock.currentTimeMillis;
          const made = yield* Effect.result(step);
          if (made._tag === "Success") {
            failingSince = null;
            return made.success;
          }
          const { failure } = made;
          if (!isUnavailable(failure)) return yield* Effect.fail(failure as Exclude<E, Unavailable>);
          yield* wait(startedAt, failure);
        }
      }),
  };
};

const tags: ReadonlySet<unknown> = new Set(["StoreUnavailable", "PlatformUnavailable"]);

const isUnavailable = (error: unknown): error is Unavailable =>
  typeof error === "object" && error !== null && "_tag" in error && tags.has(error._tag);
