/** Measures how much the machine delays requests. Sends `GET /healthz`, which needs neither Postgres nor Redis. */
import { Effect, type Scope } from "effect";
import { type Attempt, attempt } from "./attempt.ts";
import type { Node } from "./service.ts";

/** Sends requests to each running node until the scope closes. Returns the growing list of requests. */
export const feelPulse = (
  nodes: ReadonlyArray<Node>,
): Effect.Effect<ReadonlyArray<Attempt>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const pulse: Array<Attempt> = [];
    const feel = Effect.fnUntraced(function* (node: Node) {
      for (;;) {
        if (node.isUp()) pulse.push(yield* attempt(node, "GET /healthz", {}));
        yield* Effect.sleep("50 millis");
      }
    });
    yield* Effect.forEach(nodes, (node) => Effect.forkScoped(feel(node)), { discard: true });
    return pulse;
  });

/** The duration of the longest request sent between two moments, in milliseconds. */
export const longestPulse = (pulse: ReadonlyArray<Attempt>, from: number, to: number): number =>
  pulse
    .filter(({ called }) => called >= from && called < to)
    .reduce((longest, { called, ended }) => Math.max(longest, ended - called), 0);

/**
 * The assumed number of steps in a measured operation. A busy machine may delay each step by the duration of the
 * slowest `/healthz` request.
 */
const steps = 5;

/** Runs an effect. Returns its value and the delay that a busy machine may have added, in milliseconds. */
export const withDelay = <A>(
  nodes: ReadonlyArray<Node>,
  effect: Effect.Effect<A>,
): Effect.Effect<{ readonly value: A; readonly delay: number }> =>
  Effect.gen(function* () {
    const pulse = yield* feelPulse(nodes);
    const value = yield* effect;
    return { value, delay: steps * longestPulse(pulse, 0, Infinity) };
  }).pipe(Effect.scoped);
