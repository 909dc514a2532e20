import { Cause, Effect, Equal, Exit, Formatter, Option, Predicate, Schedule } from "effect";

/** The failure of a case. Test frameworks print the difference between `actual` and `expected`. */
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

export const expectEqual = <A>(actual: A, expected: NoInfer<A>, what = "The answer"): void => {
  if (Equal.equals(actual, expected)) return;
  const [given, wanted] = [Formatter.format(actual), Formatter.format(expected)];
  if (Math.max(given.length, wanted.length) <= longest) {
    throw new Unexpected(`${what} is ${given}, expected ${wanted}`, actual, expected);
  }
  const from = Array.from(given).findIndex((letter, index) => letter !== wanted[index]);
  const [shown, shownWanted] = [excerptOf(given, from), excerptOf(wanted, from)];
  throw new Unexpected(`${what} is ${shown}, expected ${shownWanted}`, shown, shownWanted);
};

/** The most characters of a value that a failure shows, since answers may contain a thousand IDs. */
const longest = 1_000;

/** The part of a text around the first difference. */
const excerptOf = (text: string, difference: number): string => {
  const begin = Math.max(0, (difference === -1 ? text.length : difference) - longest / 4);
  return `… ${text.slice(begin, begin + longest / 2)} …`;
};

/** The values of one field, in the order of the items. */
export const pluck = <A, Name extends keyof A>(items: ReadonlyArray<A>, name: Name): ReadonlyArray<A[Name]> =>
  items.map((item) => item[name]);

export const expectThat = (holds: boolean, rule: string): void => {
  if (!holds) throw new Unexpected(`Expected that ${rule}`, false, true);
};

/** Succeeds if the effect dies. An operation must die when its caller breaks a rule of the port. */
export const expectDefect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
  Effect.map(Effect.exit(effect), (exit) => {
    if (!Exit.hasDies(exit))
      throw new Unexpected("The operation has no defect", describeExit(exit), "a defect");
  });

/** Succeeds if the effect fails with `StoreUnavailable` within 30 seconds. */
export const expectUnavailable = <A, E, R>(
  operation: string,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<void, never, R> =>
  Effect.map(Effect.exit(Effect.timeout(effect, "30 seconds")), (exit) => {
    const failure = Exit.findErrorOption(exit);
    const isRight = Option.isSome(failure) && Predicate.isTagged(failure.value, "StoreUnavailable");
    if (!isRight || Exit.hasDies(exit)) {
      throw new Unexpected(`${operation} does not fail correctly`, describeExit(exit), "StoreUnavailable");
    }
  });

/** Retries the effect for up to half a minute, since an adapter may have to reconnect. */
export const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeout(Effect.retry(effect, Schedule.spaced("20 millis")), "30 seconds");

const describeExit = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isSuccess(exit) ? `the answer ${Formatter.format(exit.value)}` : Cause.pretty(exit.cause);
