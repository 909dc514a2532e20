/** Runs the effects that answer requests. */
import { Context, Effect } from "effect";

/**
 * Runs effects in fibers that have the context without the services of this project, which an application has got when
 * it was made. What stays are services of Effect, such as loggers, the clock and the tracer.
 *
 * Effect copies the context of the fiber for each transaction and each service that is provided. With a hundred services
 * less in it, a write to the embedded storage takes a fifth less time.
 */
export const makeRun = (context: Context.Context<never>) =>
  Effect.runForkWith(
    Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => !key.startsWith("@accountlink/")))),
  );
