import { Effect, Queue, Schedule, type Scope } from "effect";
import { Signals } from "./signals.ts";

const retryInterval = "1 second";

/** Handles every message of a topic until the scope closes. Retries to subscribe. */
export const forEachSignal = (
  topic: string,
  handle: (message: string) => void,
): Effect.Effect<void, never, Signals | Scope.Scope> =>
  Effect.gen(function* () {
    const messages = yield* (yield* Signals).subscribe(topic);
    while (true) handle(yield* Queue.take(messages));
  }).pipe(
    Effect.scoped,
    Effect.retry(Schedule.spaced(retryInterval)),
    Effect.forkScoped({ startImmediately: true }),
    Effect.asVoid,
  );
