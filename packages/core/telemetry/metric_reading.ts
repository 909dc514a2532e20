import { Effect, Metric, type Scope } from "effect";

/** Registers a metric that calls `read` for its state at each export, until the scope closes. */
export const readMetric = <Input, State>(
  metric: Metric.Metric<Input, State>,
  read: () => State,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.contextWith((context) =>
        Effect.sync(() =>
          Metric.registerUnsafe(metric, context, { get: read, update: () => {}, modify: () => {} }),
        ),
      ),
      (registration) => Effect.sync(() => registration.remove()),
    ),
  );
