import { Effect, Exit, Metric, Option, Stream } from "effect";
import { CircuitBreaker } from "effect/persistence";
import { platformCircuit } from "./metrics.ts";
import { RequestFailed } from "./request_failed.ts";
import type { Resilience } from "./resilience.ts";

const gaugeValues = { Closed: 0, HalfOpen: 1, Open: 2 } satisfies Record<
  CircuitBreaker.State["_tag"],
  number
>;

/** Makes the circuit breaker of a platform. While it is open, it fails attempts with `circuit_open`. */
export const makeCircuit = Effect.fnUntraced(function* (
  platform: string,
  { failuresToOpen, openFor }: Resilience,
) {
  const breaker = yield* CircuitBreaker.make({
    tripPolicy: CircuitBreaker.consecutive(failuresToOpen),
    openDuration: openFor,
  });
  const gauge = Metric.withAttributes(platformCircuit, { platform });
  yield* Metric.update(gauge, gaugeValues.Closed);
  yield* breaker.transitions.pipe(
    Stream.runForEach(({ to }) =>
      Effect.andThen(
        Metric.update(gauge, gaugeValues[to]),
        Effect.logWarning(`The circuit of the platform is now ${to}`).pipe(Effect.annotateLogs({ platform })),
      ),
    ),
    Effect.forkScoped({ startImmediately: true }),
  );

  return <A>(attempt: Effect.Effect<A, RequestFailed>): Effect.Effect<A, RequestFailed> =>
    breaker
      .execute(attempt, { key: platform, classify })
      .pipe(
        Effect.catchTag("CircuitBreakerError", () =>
          Effect.fail(new RequestFailed({ reason: "circuit_open" })),
        ),
      );
}, Effect.provide(CircuitBreaker.layerStoreMemory()));

// A platform that sends a 429 or a body over the limit is reachable, so these failures do not open the circuit.
const classify = (exit: Exit.Exit<unknown, RequestFailed>): CircuitBreaker.Outcome =>
  Option.match(Exit.findErrorOption(exit), {
    onNone: () => (Exit.isSuccess(exit) ? CircuitBreaker.success : CircuitBreaker.ignored),
    onSome: ({ reason, status = 0 }) =>
      reason === "connection" || reason === "timeout" || status >= 500
        ? CircuitBreaker.failure()
        : CircuitBreaker.ignored,
  });
