/**
 * Deletes expired sign-ins.
 */
import { Clock, Effect, Layer, Schedule } from "effect";
import { warnOnce } from "../telemetry/warn_once.ts";
import { SignInStore } from "./sign_in_store.ts";

/** Sweeps every minute, until its scope closes. */
export const layer: Layer.Layer<never, never, SignInStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* SignInStore;
    const sweep = yield* warnOnce(
      "Cannot delete expired sign-ins",
      Effect.flatMap(Clock.currentTimeMillis, store.sweep),
    );
    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute")));
  }),
);
