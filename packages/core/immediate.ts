/**
 * Effects that mostly have their result at once, such as a read of memory or of SQLite. They are
 * ordinary effects, evaluated anew whenever they run. But where one is part of another, it is
 * evaluated in place: a lookup through many services is one operation of its fiber. If a part has
 * to wait, the rest goes on as usual.
 *
 * @internal
 */
import { type Cause, Clock, Effect, Exit, type Fiber } from "effect";

type RunningFiber = Fiber.Fiber<unknown, unknown>;

const evaluateKey = Symbol("@accountlink/core/Immediate");

interface Immediate<A, E, R> extends Effect.Effect<A, E, R> {
  [evaluateKey]?: (fiber: RunningFiber) => Effect.Effect<A, E, R>;
}

/** `Effect.withFiber`. */
export const withFiber = <A, E = never, R = never>(
  evaluate: (fiber: RunningFiber) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => {
  const effect: Immediate<A, E, R> = Effect.withFiber(evaluate);
  effect[evaluateKey] = evaluate;
  return effect;
};

/** `Effect.sync`. */
export const sync = <A>(evaluate: () => A): Effect.Effect<A> => withFiber(() => Exit.succeed(evaluate()));

/** `Clock.currentTimeMillis`. */
export const currentTimeMillis: Effect.Effect<number> = withFiber((fiber) =>
  Exit.succeed(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()),
);

/** `Effect.fnUntraced`. */
export const fn =
  <Eff extends Effect.Effect<unknown, unknown, unknown>, A, Args extends ReadonlyArray<unknown>>(
    body: (...args: Args) => Generator<Eff, A, never>,
  ) =>
  (...args: Args): Effect.Effect<A, Effect.Error<Eff>, Effect.Services<Eff>> =>
    withFiber((fiber) => resume(body(...args), undefined, fiber));

/** `Effect.map`. */
export const map = <A, E, R, B>(self: Effect.Effect<A, E, R>, f: (value: A) => B): Effect.Effect<B, E, R> =>
  withFiber((fiber) => Effect.mapEager(attempt(self, fiber), f));

/** `Effect.flatMap`. */
export const flatMap = <A, E, R, B, E2, R2>(
  self: Effect.Effect<A, E, R>,
  f: (value: A) => Effect.Effect<B, E2, R2>,
): Effect.Effect<B, E | E2, R | R2> => withFiber((fiber) => Effect.flatMapEager(attempt(self, fiber), f));

/** `Effect.mapError`. */
export const mapError = <A, E, R, E2>(
  self: Effect.Effect<A, E, R>,
  f: (error: E) => E2,
): Effect.Effect<A, E2, R> => withFiber((fiber) => Effect.mapErrorEager(attempt(self, fiber), f));

/** `Effect.matchCauseEffect`. */
export const matchCauseEffect = <A, E, R, B, E2, R2, C, E3, R3>(
  self: Effect.Effect<A, E, R>,
  handlers: {
    readonly onFailure: (cause: Cause.Cause<E>) => Effect.Effect<B, E2, R2>;
    readonly onSuccess: (value: A) => Effect.Effect<C, E3, R3>;
  },
): Effect.Effect<B | C, E2 | E3, R | R2 | R3> =>
  withFiber((fiber) => Effect.matchCauseEffectEager(attempt(self, fiber), handlers));

/** `Effect.catchCause`. */
export const catchCause = <A, E, R, B, E2, R2>(
  self: Effect.Effect<A, E, R>,
  onFailure: (cause: Cause.Cause<E>) => Effect.Effect<B, E2, R2>,
): Effect.Effect<A | B, E2, R | R2> => matchCauseEffect(self, { onFailure, onSuccess: Effect.succeed });

/** Evaluates an effect in place. Returns an `Exit` if it did not wait, else an effect for the rest. */
const attempt = <A, E, R>(effect: Effect.Effect<A, E, R>, fiber: RunningFiber): Effect.Effect<A, E, R> => {
  let rest: Immediate<A, E, R> = effect;
  try {
    while (rest[evaluateKey] !== undefined) rest = rest[evaluateKey](fiber);
    // An error of the service is an effect as well, which fails with itself.
    return rest instanceof Error ? Exit.fail(rest as E) : rest;
  } catch (defect) {
    return Exit.die(defect);
  }
};

const resume = <Eff extends Effect.Effect<unknown, unknown, unknown>, A>(
  body: Generator<Eff, A, unknown>,
  last: unknown,
  fiber: RunningFiber,
): Effect.Effect<A, Effect.Error<Eff>, Effect.Services<Eff>> => {
  let value = last;
  for (;;) {
    const step = body.next(value);
    if (step.done === true) return Exit.succeed(step.value);
    const part = step.value as Effect.Effect<unknown, Effect.Error<Eff>, Effect.Services<Eff>>;
    const outcome = attempt(part, fiber);
    if (!Exit.isExit(outcome)) return Effect.flatMap(outcome, (next) => resume(body, next, fiber));
    if (Exit.isFailure(outcome)) return Exit.failCause(outcome.cause as Cause.Cause<Effect.Error<Eff>>);
    value = outcome.value;
  }
};
