/** The tests of `@effect/vitest`, and tests whose bodies are generators, like the body of `Effect.gen`. */
import { it, type Vitest } from "@effect/vitest";
import { Clock, Effect, Layer, type Scope } from "effect";

export * from "@effect/vitest";

type Test<Input, Outcome> = (title: string, body: (input: Input) => Outcome, timeout?: number) => void;

type Step<R> = Effect.Effect<unknown, unknown, R | Scope.Scope>;

type Tester = Vitest.Tester<Scope.Scope>;

const testsOn = <R>(tester: Tester, layer: Layer.Layer<R, unknown>) => {
  const taking =
    <Input>(test: Test<Input, Step<never>>): Test<Input, Step<R> | Generator<Step<R>, unknown, never>> =>
    (title, body, timeout) =>
      test(
        title,
        (input) => {
          const outcome = body(input);
          const effect = Effect.isEffect(outcome) ? outcome : Effect.gen(() => outcome);
          return Effect.provide(Effect.scoped(effect), layer);
        },
        timeout,
      );
  return Object.assign(taking<unknown>(tester), {
    skipIf: (condition: boolean) => taking<unknown>(tester.skipIf(condition)),
    each: <Case>(cases: ReadonlyArray<Case>) => taking<Case>(tester.each(cases)),
  });
};

/** A test on the test clock. Its body is a generator or returns an effect. */
export const test = testsOn(it.effect, Layer.empty);

/** A test on the clock of the machine. */
export const testLive = testsOn(it.live, Layer.empty);

/** Tests on the test clock with the services of a layer, which each test builds. */
export const testWith = <R>(layer: Layer.Layer<R, unknown>) => testsOn(it.effect, layer);

/** Tests on the clock of the machine with the services of a layer, which each test builds. */
export const testLiveWith = <R>(layer: Layer.Layer<R, unknown>) => testsOn(it.live, layer);

/** Runs effects with a clock that is ahead by what the function returns, in milliseconds. Timers do not depend on it. */
export const aheadBy = (millis: () => number) =>
  Effect.updateService(Clock.Clock, (clock): Clock.Clock => {
    const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + millis();
    const shifted = { currentTimeMillisUnsafe, currentTimeMillis: Effect.sync(currentTimeMillisUnsafe) };
    return Object.assign(Object.create(clock) as Clock.Clock, shifted);
  });
