/** Structured logs: one JSON object per line on standard error, without keys and addresses. */
import { format } from "node:util";
import { redact } from "@accountlink/core/addresses";
import {
  Console,
  Effect,
  Formatter,
  Layer,
  Logger,
  LogLevel,
  Redacted,
  References,
  type Scope,
  String,
} from "effect";
import type { Config } from "../config/config.ts";
import { placeOf } from "../config/store_url.ts";
import { printable } from "../message_text.ts";

type Urls = Pick<Config, "ACCOUNTLINK_DATABASE_URL" | "ACCOUNTLINK_REDIS_URL">;

/** The addresses of the stores, as errors name them. An operator has to see them, and they are not clients. */
const endpointsOf = (urls: Partial<Urls>): ReadonlyArray<string> =>
  Object.values(urls).flatMap((url) => (url === null ? [] : placeOf(Redacted.value(url)).endpoints));

/** Logs messages of the level and above, including the warnings of Node and of libraries. */
export const loggingLayer = ({
  ACCOUNTLINK_LOG_LEVEL: level,
  ACCOUNTLINK_DATABASE_URL = null,
  ACCOUNTLINK_REDIS_URL = null,
}: Pick<Config, "ACCOUNTLINK_LOG_LEVEL"> & Partial<Urls>): Layer.Layer<never> => {
  const endpoints = endpointsOf({ ACCOUNTLINK_DATABASE_URL, ACCOUNTLINK_REDIS_URL });
  const logger = deduplicatedLogger((line) => printable(redact(Formatter.formatJson(line), endpoints)));
  return Layer.provideMerge(
    captureWarnings,
    Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, String.capitalize(level))),
  );
};

type Line = ReturnType<typeof Logger.formatStructured.log>;

/** The maximum number of different lines per second that are deduplicated; further lines are all written. */
const maxLines = 1_000;

/** Annotations that are ignored in the comparison, since they differ between requests that fail identically. */
const requestAnnotations = new Set(["requestId", "key"]);

/**
 * Logs to the console's standard error. The first of several identical warnings and errors is written at once: when a
 * store is down, every request fails with the same error and stack.
 * Repeats within the next second become one line: the last repeat, with their number as `repeated`.
 */
const deduplicatedLogger = (
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

/** Passes what ioredis and pg print with `console.warn` to a function, until the scope closes. */
const warningsTo = (take: (text: string) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const print = console.warn;
      console.warn = (...parts: ReadonlyArray<unknown>) => take(format(...parts));
      return print;
    }),
    (print) =>
      Effect.sync(() => {
        console.warn = print;
      }),
  );

/** Keeps the warnings of drivers out of the output of commands, which report problems in their own words. */
export const muteDrivers: Layer.Layer<never> = Layer.effectDiscard(warningsTo(() => {}));

/** ioredis says this at each connection of a user who may not ask for INFO. */
const noInfo = /^Skipping the ready check .*NOPERM/;

/**
 * Logs the warnings of Node and the calls of `console.warn` by ioredis and pg, until the scope closes. Otherwise, they
 * would be printed as plain text on standard error.
 */
const captureWarnings: Layer.Layer<never> = Layer.effectDiscard(
  Effect.gen(function* () {
    const log = Effect.runForkWith(yield* Effect.context());
    const onWarning = ({ name, message }: Error) => {
      log(Effect.annotateLogs(Effect.logWarning(message), { warning: name }));
    };
    let isInfoRefused = false;
    yield* warningsTo((text) => {
      if (!noInfo.test(text)) return void log(Effect.logWarning(text.replace(/^\[[A-Z]+\] /, "")));
      if (isInfoRefused) return;
      isInfoRefused = true;
      log(
        Effect.logWarning(
          "Redis does not let its user ask for INFO, expected the rights in docs/operating.md",
        ),
      );
    });
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const printing = process.listeners("warning");
        process.removeAllListeners("warning").on("warning", onWarning);
        return printing;
      }),
      (printing) =>
        Effect.sync(() => {
          process.off("warning", onWarning);
          for (const listener of printing) process.on("warning", listener);
        }),
    );
  }),
);
