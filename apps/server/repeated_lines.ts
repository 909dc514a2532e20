/**
 * A logger that repeats no warning or error faster than once a second: a store that is down fails every request in the
 * same way, thousands of times a second, with a stack each.
 */
import { Console, Effect, Formatter, Logger, LogLevel, type Scope } from "effect";

/** What a line says. */
type Line = ReturnType<typeof Logger.formatStructured.log>;

/** Beyond so many different lines a second, they are written as they come. */
const mostDifferent = 1_000;

/** Annotations that tell identical failures of different requests apart. */
const ofRequest = new Set(["requestId", "key"]);

/**
 * Writes lines to the console's standard error. Of identical warnings and errors the first is written at once, those of
 * the second that follows as one line: the last of them, with their number as `repeated`.
 */
export const withoutRepeats = (
  print: (line: Line & { readonly repeated?: number }) => string,
): Effect.Effect<Logger.Logger<unknown, void>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const written = new Map<string, { repeated: number; last: Line }>();
    const flush = Effect.suspend(() => {
      const repeats: Array<string> = [];
      for (const [identity, entry] of written) {
        if (entry.repeated === 0) written.delete(identity);
        else repeats.push(print({ ...entry.last, repeated: entry.repeated }));
        entry.repeated = 0;
      }
      return Effect.forEach(repeats, (line) => Console.error(line), { discard: true });
    });
    yield* Effect.addFinalizer(() => flush);
    yield* Effect.forkScoped(Effect.forever(Effect.delay(flush, "1 second")));

    return Logger.make((options) => {
      const line = Logger.formatStructured.log(options);
      if (LogLevel.isGreaterThanOrEqualTo(options.logLevel, "Warn")) {
        const identity = identityOf(line);
        const entry = written.get(identity);
        if (entry !== undefined) {
          entry.repeated += 1;
          entry.last = line;
          return;
        }
        if (written.size < mostDifferent) written.set(identity, { repeated: 0, last: line });
      }
      options.fiber.getRef(Console.Console).error(print(line));
    });
  });

const identityOf = ({ level, message, cause, annotations }: Line): string =>
  Formatter.formatJson([
    level,
    message,
    cause,
    Object.entries(annotations).filter(([name]) => !ofRequest.has(name)),
  ]);
