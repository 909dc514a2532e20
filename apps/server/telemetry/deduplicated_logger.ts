/**
 * A logger that writes identical warnings and errors at most once a second: when a store is down, every request fails
 * with the same error and stack.
 */
import { Console, Effect, Formatter, Logger, LogLevel, type Scope } from "effect";

type Line = ReturnType<typeof Logger.formatStructured.log>;

/** The maximum number of different lines per second that are deduplicated; further lines are all written. */
const maxLines = 1_000;

/** Annotations that are ignored in the comparison, since they differ between requests that fail identically. */
const requestAnnotations = new Set(["requestId", "key"]);

/**
 * Logs to the console's standard error. The first of several identical warnings and errors is written at once.
 * Repeats within the next second become one line: the last repeat, with their number as `repeated`.
 */
export const deduplicatedLogger = (
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
        if (written.size < maxLines) written.set(identity, { repeated: 0, last: line });
      }
      options.fiber.getRef(Console.Console).error(print(line));
    });
  });

const identityOf = ({ level, message, cause, annotations }: Line): string =>
  Formatter.formatJson([
    level,
    message,
    cause,
    Object.entries(annotations).filter(([name]) => !requestAnnotations.has(name)),
  ]);
