import { Effect, Exit, Scope } from "effect";

/**
 * Returns a function that runs effects. Their resources are released at the end of a test or a file.
 *
 * @param ending `onTestFinished` or `afterAll` of vitest
 */
export const runUntil = (ending: (release: () => Promise<void>) => void) => {
  const scope = Scope.makeUnsafe();
  ending(() => Effect.runPromise(Scope.close(scope, Exit.void)));
  return <A>(effect: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
    Effect.runPromise(Scope.provide(effect, scope));
};
