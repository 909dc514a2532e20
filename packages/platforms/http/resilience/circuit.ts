import { operatorAccount } from "@accountlink/core/turns";
import { Effect, Exit, Metric, Option, Stream } from "effect";
import { CircuitBreaker } from "effect/persistence";
import { platformCircuit } from "./metrics.ts";
import { isOutage, RequestFailed } from "./request_failed.ts";
import type { Resilience } from "./resilience.ts";

const gaugeValues = { Closed: 0, HalfOpen: 1, Open: 2 } satisfies Record<
  CircuitBreaker.State["_tag"],
  number
>;

/**
 * Makes the circuit breakers of a platform. While one is open, it fails attempts with `circuit_open`. Each account has
 * its own. One for all accounts opens only after failures of several, because an account may ask what the platform
 * answers late or not at all.
 */
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
  const told = new Set<string>();
  let lastFailure = "";
  /** Logs the beginning and the end of an outage, but not the probes in between, which are every two seconds. */
  const log = (key: string, to: CircuitBreaker.State["_tag"]) => {
    if (to === "Closed") {
      return told.delete(key) ? Effect.logInfo("The platform is asked again: it answers") : Effect.void;
    }
    if (told.has(key)) return Effect.void;
    told.add(key);
    return Effect.logWarning(`The platform is not asked for now, since requests failed. ${lastFailure}`);
  };
  yield* breaker.transitions.pipe(
    Stream.filter(({ key }) => key === platform || key === keyOf(operatorAccount)),
    Stream.runForEach(({ key, to }) =>
      Effect.andThen(Metric.update(gauge, gaugeValues[to]), Effect.annotateLogs(log(key, to), { platform })),
    ),
    Effect.forkScoped({ startImmediately: true }),
  );

  /** The failures of each account since the last answer to any. */
  const failures = new Map<string, number>();
  const mostOfOne = Math.ceil(failuresToOpen / 2);

  /** Whether a failure counts for all accounts. At most half of the failures that open the circuit are of one account. */
  const countsForAll = Effect.fnUntraced(function* (account: string) {
    const count = (failures.get(account) ?? 0) + 1;
    failures.set(account, count);
    if (count <= mostOfOne) return true;
    const state = yield* Effect.orDie(breaker.state(platform));
    return state._tag !== "Closed";
  });

  const forAll = (account: string) =>
    Effect.fnUntraced(function* (exit: Exit.Exit<unknown, RequestFailed>) {
      const outcome = classify(exit);
      if (outcome._tag === "Success") failures.clear();
      if (outcome._tag === "Failure" && !(yield* countsForAll(account))) return CircuitBreaker.ignored;
      return outcome;
    });

  return <A>(account: string, attempt: Effect.Effect<A, RequestFailed>): Effect.Effect<A, RequestFailed> => {
    const noted = Effect.tapError(attempt, ({ message }) =>
      Effect.sync(() => {
        lastFailure = message;
      }),
    );
    const open = closed(breaker.execute(noted, { key: platform, classify: forAll(account) }));
    return closed(breaker.execute(open, { key: keyOf(account), classify }));
  };
}, Effect.provide(CircuitBreaker.layerStoreMemory()));

const keyOf = (account: string): string => `account ${account}`;

const closed = <A>(attempt: Effect.Effect<A, RequestFailed | CircuitBreaker.CircuitBreakerError>) =>
  Effect.catchTag(attempt, "CircuitBreakerError", () =>
    Effect.fail(new RequestFailed({ reason: "circuit_open" })),
  );

const classify = (exit: Exit.Exit<unknown, RequestFailed>): CircuitBreaker.Outcome =>
  Option.match(Exit.findErrorOption(exit), {
    onNone: () => (Exit.isSuccess(exit) ? CircuitBreaker.success : CircuitBreaker.ignored),
    onSome: (failure) => (isOutage(failure) ? CircuitBreaker.failure() : CircuitBreaker.ignored),
  });
