/**
 * How long events are kept.
 */
import { Clock, Context, Effect, Layer, Metric, Schedule } from "effect";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
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
  defaultValue: () => 30 * dayMs,
});

/** How long the event of an erasure names its user, in milliseconds. */
const erasureNamedFor = 7 * dayMs;

/** The age of the event that was stored first. */
const oldestEvent = Metric.gauge("accountlink_events_oldest_seconds", {
  description: "How old the oldest event is that is kept, in seconds; 0 without events",
});

const keptEvents = Metric.gauge("accountlink_events_retention_seconds", {
  description: "How long events are kept, in seconds",
});

/** Deletes old events every minute, until its scope closes. */
export const layer: Layer.Layer<never, never, EventStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* EventStore;
    const retention = yield* EventRetention;
    yield* Metric.update(keptEvents, retention / 1_000);
    const sweep = yield* warnOnce(
      "Cannot delete old events",
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis;
        yield* store.sweep({ before: now - retention, erasuresBefore: now - erasureNamedFor });
        const oldest = yield* store.oldestAt();
        yield* Metric.update(oldestEvent, oldest === null ? 0 : Math.max(0, now - oldest) / 1_000);
      }),
    );
    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute")));
  }),
);
