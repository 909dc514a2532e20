/** Runs the effects that answer requests. */
import { Context, Effect } from "effect";

/**
 * Runs effects in fibers whose context lacks the services of this project, because an application takes them when it is
 * made. Services of Effect stay, such as loggers, the clock and the tracer.
 *
 * Effect copies the context of the fiber for each transaction and each provided service. With a hundred services less in
 * it, a write to the embedded storage takes a fifth less time.
 */
export const makeRun = (context: Context.Context<never>) =>
  Effect.runForkWith(
    Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => !key.startsWith("@accountlink/")))),
  );
