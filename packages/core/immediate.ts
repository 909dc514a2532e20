/**
 * Effects that usually have their result at once, such as reads of memory or SQLite. They are ordinary effects and are
 * evaluated each time they run. An effect inside another one is evaluated in place, so a lookup through many services
 * is one operation of its fiber. If an effect has to wait, everything after it runs like ordinary effects.
 *
 * @internal
 */
import { type Cause, Effect, Effectable, Exit, Fiber } from "effect";

type RunningFiber = Fiber.Fiber<unknown, unknown>;

type Evaluate<A, E, R> = (fiber: RunningFiber) => Effect.Effect<A, E, R>;

class Immediate<A, E, R> {
  readonly evaluate: Evaluate<A, E, R>;

  constructor(evaluate: Evaluate<A, E, R>) {
    this.evaluate = evaluate;
  }
}

Object.setPrototypeOf(
  Immediate.prototype,
  Effectable.Prototype<Effect.Effect<unknown, unknown, unknown> & Immediate<unknown, unknown, unknown>>({
    label: "Immediate",
    evaluate(fiber) {
      return this.evaluate(fiber);
    },
  }),
);

// The cast is safe: the prototype has the methods that a fiber calls on an effect.
export const withFiber = <A, E = never, R = never>(evaluate: Evaluate<A, E, R>): Effect.Effect<A, E, R> =>
  new Immediate(evaluate) as unknown as Effect.Effect<A, E, R>;

export const sync = <A>(evaluate: () => A): Effect.Effect<A> => withFiber(() => Exit.succeed(evaluate()));

export const fn =
  <Eff extends Effect.Effect<unknown, unknown, unknown>, A, Args extends ReadonlyArray<unknown>>(
    body: (...args: Args) => Generator<Eff, A, never>,
  ) =>
  (...args: Args): Effect.Effect<A, Effect.Error<Eff>, Effect.Services<Eff>> =>
    withFiber((fiber) => resume(body(...args), undefined, fiber));

export const map = <A, E, R, B>(self: Effect.Effect<A, E, R>, f: (value: A) => B): Effect.Effect<B, E, R> =>
  withFiber((fiber) => {
    const outcome = attempt(self, fiber);
    if (outcome._tag === "Success") return Exit.succeed(f(outcome.value));
    return outcome._tag === "Failure" ? outcome : Effect.map(outcome, f);
  });

export const flatMap = <A, E, R, B, E2, R2>(
  self: Effect.Effect<A, E, R>,
  f: (value: A) => Effect.Effect<B, E2, R2>,
): Effect.Effect<B, E | E2, R | R2> =>
  withFiber<B, E | E2, R | R2>((fiber) => {
    const outcome = attempt(self, fiber);
    if (outcome._tag === "Success") return f(outcome.value);
    return outcome._tag === "Failure" ? outcome : Effect.flatMap(outcome, f);
  });

export const matchCauseEffect = <A, E, R, B, E2, R2, C, E3, R3>(
  self: Effect.Effect<A, E, R>,
  handlers: {
    readonly onFailure: (cause: Cause.Cause<E>) => Effect.Effect<B, E2, R2>;
    readonly onSuccess: (value: A) => Effect.Effect<C, E3, R3>;
  },
): Effect.Effect<B | C, E2 | E3, R | R2 | R3> =>
  withFiber<B | C, E2 | E3, R | R2 | R3>((fiber) => {
    const outcome = attempt(self, fiber);
    if (outcome._tag === "Success") return handlers.onSuccess(outcome.value);
    return outcome._tag === "Failure"
      ? handlers.onFailure(outcome.cause)
      : Effect.matchCauseEffect(outcome, handlers);
  });

/**
 * Runs `self` and then `other`. If `self` has to wait, `other` runs meanwhile in a child fiber. Returns the outcome of
 * `other`, or the failure of `self`. If `self` fails, `other` is interrupted when the calling fiber ends.
 */
export const meanwhile = <A, E, R, B, E2, R2>(
  self: Effect.Effect<A, E, R>,
  other: Effect.Effect<B, E2, R2>,
): Effect.Effect<B, E | E2, R | R2> =>
  withFiber<B, E | E2, R | R2>((fiber) => {
    const outcome = attempt(self, fiber);
    if (outcome._tag === "Success") return other;
    if (outcome._tag === "Failure") return outcome;
    return Effect.flatMap(Effect.forkChild(other, { startImmediately: true }), (child) =>
      Effect.andThen(outcome, Fiber.join(child)),
    );
  });

/** The exit of an effect that ended at once, else an effect that runs the rest. Its missing `_tag` tells them apart. */
type Outcome<A, E, R> =
  | Exit.Success<A>
  | Exit.Failure<never, E>
  | (Effect.Effect<A, E, R> & { readonly _tag?: undefined });

const attempt = <A, E, R>(effect: Effect.Effect<A, E, R>, fiber: RunningFiber): Outcome<A, E, R> => {
  let rest: unknown = effect;
  try {
    while (rest instanceof Immediate) rest = rest.evaluate(fiber);
    // A tagged error is also an effect, which fails with itself. It has a `_tag`, so return the exit of this effect.
    return (rest instanceof Error ? Exit.fail(rest as E) : rest) as Outcome<A, E, R>;
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
    if (outcome._tag === "Failure") return outcome;
    if (outcome._tag !== "Success") return Effect.flatMap(outcome, (next) => resume(body, next, fiber));
    value = outcome.value;
  }
};
