/** Spans that cost nothing unless they are exported. */
import { Effect, type Fiber, Tracer } from "effect";

const isTracing = ({ cache }: Fiber.Fiber<unknown, unknown>): boolean =>
  cache.tracerEnabled && cache.tracer !== undefined && cache.tracer !== Tracer.nativeTracer;

export const isTraced: Effect.Effect<boolean> = Effect.withFiber((fiber) => Effect.succeed(isTracing(fiber)));

/**
 * Adds a span to an operation, but only if spans are exported, because making a span takes longer than a link lookup.
 */
export const traced =
  (name: string) =>
  <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      isTracing(fiber) ? Effect.withSpan(operation, name, { captureStackTrace: false }) : operation,
    );
