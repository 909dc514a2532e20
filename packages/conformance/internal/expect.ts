import { Cause, Effect, Equal, Exit, Formatter, Option, Predicate, Schedule } from "effect";

/** A case has failed. Test frameworks print the difference between `actual` and `expected`. */
class Unexpected extends Error {
  override readonly name = "AssertionError";
  readonly actual: unknown;
  readonly expected: unknown;

  constructor(message: string, actual: unknown, expected: unknown) {
    super(message);
    this.actual = actual;
    this.expected = expected;
  }
}

/** Throws unless the two are equal in structure. */
export const expectEqual = <A>(actual: A, expected: NoInfer<A>, what = "The answer"): void => {
  if (Equal.equals(actual, expected)) return;
  const message = `${what} is ${Formatter.format(actual)}, expected ${Formatter.format(expected)}`;
  throw new Unexpected(message, actual, expected);
};

/** Throws unless the rule holds. */
export const expectThat = (holds: boolean, rule: string): void => {
  if (!holds) throw new Unexpected(`It does not hold that ${rule}`, false, true);
};

/** Succeeds when the effect dies: the caller broke a rule of the port, and nobody may take that for an answer. */
export const expectDefect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
  Effect.map(Effect.exit(effect), (exit) => {
    if (!Exit.hasDies(exit)) throw new Unexpected("It is no defect", shown(exit), "a defect");
  });

/** Succeeds when the effect fails with `StoreUnavailable`, and in no other way, within ten seconds. */
export const expectUnavailable = <A, E, R>(
  operation: string,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<void, never, R> =>
  Effect.map(Effect.exit(Effect.timeout(effect, "10 seconds")), (exit) => {
    const failure = Exit.findErrorOption(exit);
    const isRight = Option.isSome(failure) && Predicate.isTagged(failure.value, "StoreUnavailable");
    if (!isRight || Exit.hasDies(exit)) {
      throw new Unexpected(`${operation} is not refused as it should be`, shown(exit), "StoreUnavailable");
    }
  });

/** What the effect gives once it succeeds, within ten seconds: whoever comes back may need a moment to connect. */
export const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeout(Effect.retry(effect, Schedule.spaced("20 millis")), "10 seconds");

const shown = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isSuccess(exit) ? `the answer ${Formatter.format(exit.value)}` : Cause.pretty(exit.cause);
