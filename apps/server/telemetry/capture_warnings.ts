import { format } from "node:util";
import { Effect, Layer } from "effect";

/**
 * Logs the warnings of Node and the calls of `console.warn` by ioredis and pg, until the scope closes. Otherwise, they
 * would be printed as plain text on standard error.
 */
export const captureWarnings: Layer.Layer<never> = Layer.effectDiscard(
  Effect.gen(function* () {
    const log = Effect.runForkWith(yield* Effect.context());
    const onWarning = ({ name, message }: Error) => {
      log(Effect.annotateLogs(Effect.logWarning(message), { warning: name }));
    };
    const onConsole = (...parts: ReadonlyArray<unknown>) => {
      log(Effect.logWarning(format(...parts).replace(/^\[[A-Z]+\] /, "")));
    };
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const printing = process.listeners("warning");
        const print = console.warn;
        process.removeAllListeners("warning").on("warning", onWarning);
        console.warn = onConsole;
        return { printing, print };
      }),
      ({ printing, print }) =>
        Effect.sync(() => {
          process.off("warning", onWarning);
          for (const listener of printing) process.on("warning", listener);
          console.warn = print;
        }),
    );
  }),
);
