/** Requests that need no store, all the time: how slow they are is how slow the machine is. */
import { Effect, type Scope } from "effect";
import { type Attempt, attempt } from "./attempt.ts";
import type { Node } from "./service.ts";

/** Asks each node that is up, until the scope closes, and keeps what came of it. */
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

/** The longest that a request took of those that were sent in a while, in milliseconds. */
export const longestPulse = (pulse: ReadonlyArray<Attempt>, from: number, to: number): number =>
  pulse
    .filter(({ called }) => called >= from && called < to)
    .reduce((longest, { called, ended }) => Math.max(longest, ended - called), 0);

/** An operation takes so many steps, each of which may be as late as a request that needs no store. */
const steps = 5;

/** Does something, and gives how much of its time may be the machine's, in milliseconds, with what came of it. */
export const withDelay = <A>(
  nodes: ReadonlyArray<Node>,
  effect: Effect.Effect<A>,
): Effect.Effect<{ readonly value: A; readonly delay: number }> =>
  Effect.gen(function* () {
    const pulse = yield* feelPulse(nodes);
    const value = yield* effect;
    return { value, delay: steps * longestPulse(pulse, 0, Infinity) };
  }).pipe(Effect.scoped);
