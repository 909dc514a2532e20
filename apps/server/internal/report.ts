/** How commands end that cannot do their work. */
import { redact } from "@accountlink/core";
import { Console, Effect } from "effect";

/** Says on standard error, in one line, what stood in the way. */
export const reportProblem = <A, E extends { readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.tapError(effect, (error) => Console.error(redact(error.message.replaceAll("\n", " "))));
