/**
 * Deliveries are kept as long as their events.
 */
import { Clock, Effect, Layer, Schedule } from "effect";
import { EventRetention } from "../events/event_retention.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { WebhookStore } from "./webhook_store.ts";

/** Deletes old deliveries every ten minutes, until its scope closes. */
export const layer: Layer.Layer<never, never, WebhookStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* WebhookStore;
    const retention = yield* EventRetention;
    const sweep = yield* warnOnce(
      "Cannot delete old deliveries of webhooks",
      Effect.flatMap(Clock.currentTimeMillis, (now) => store.sweep(now - retention)),
    );
    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("10 minutes")));
  }),
);
