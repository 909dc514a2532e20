import { Clock, Effect, Metric, type Scope } from "effect";
import type { Millis } from "../timestamp.ts";

/** Registers a metric that calls `read` for its state at each export, until the scope closes. */
export const readMetric = <Input, State>(
  metric: Metric.Metric<Input, State>,
  read: (now: Millis) => State,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.contextWith((context) =>
        Effect.map(Clock.Clock, (clock) => {
          const get = () => read(clock.currentTimeMillisUnsafe());
          return Metric.registerUnsafe(metric, context, { get, update: () => {}, modify: () => {} });
        }),
      ),
      (registration) => Effect.sync(() => registration.remove()),
    ),
  );
