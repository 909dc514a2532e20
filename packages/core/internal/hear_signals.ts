import { Effect, Queue, Schedule, type Scope } from "effect";
import { Signals } from "../ports/signals.ts";

/** How long until signals that cannot be subscribed to are tried again. */
const againAfter = "1 second";

/**
 * Hands every message of a topic on until the scope closes. A service whose signals are down starts, and hears them when
 * they are back.
 */
export const hearSignals = (
  topic: string,
  hear: (message: string) => void,
): Effect.Effect<void, never, Signals | Scope.Scope> =>
  Effect.gen(function* () {
    const messages = yield* (yield* Signals).subscribe(topic);
    while (true) hear(yield* Queue.take(messages));
  }).pipe(
    Effect.scoped,
    Effect.retry(Schedule.spaced(againAfter)),
    Effect.forkScoped({ startImmediately: true }),
    Effect.asVoid,
  );
