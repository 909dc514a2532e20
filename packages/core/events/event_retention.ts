/**
 * How long events are kept.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect";
import { warnOnce } from "../telemetry/warn_once.ts";
import { EventStore } from "./event_store.ts";

/**
 * In milliseconds, at least a day.
 *
 * @example
 * ```ts
 * import { Layer } from "effect";
 *
 * // For `Layer.provide` below the services of a deployment.
 * const aWeek = Layer.succeed(EventRetention, 7 * 86_400_000);
 * ```
 */
export const EventRetention = Context.Reference<number>("@accountlink/core/EventRetention", {
  defaultValue: () => 30 * 86_400_000,
});

/** How long the event of an erasure names its user, in milliseconds. */
const erasureNamedFor = 7 * 86_400_000;

/** Deletes old events every minute, until its scope closes. */
export const layer: Layer.Layer<never, never, EventStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* EventStore;
    const retention = yield* EventRetention;
    const sweep = yield* warnOnce(
      "Cannot delete old events",
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        store.sweep({ before: now - retention, erasuresBefore: now - erasureNamedFor }),
      ),
    );
    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute")));
  }),
);
