/**
 * How long usage is kept.
 */
import { Clock, Effect, Layer, Schedule } from "effect";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
import { UsageStore } from "./usage_store.ts";

/** In milliseconds. */
const usageRetention = 400 * dayMs;

/** Deletes old usage every ten minutes, until its scope closes. */
export const layer: Layer.Layer<never, never, UsageStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* UsageStore;
    const deleteOld = yield* warnOnce(
      "Cannot delete old usage",
      Effect.flatMap(Clock.currentTimeMillis, (now) => store.forget(now - usageRetention)),
    );
    yield* Effect.forkScoped(Effect.repeat(deleteOld, Schedule.spaced("10 minutes")));
  }),
);
