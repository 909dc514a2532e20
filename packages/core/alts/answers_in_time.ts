import { type Duration, Effect } from "effect";
import { forEachLimited } from "../limited_loops.ts";

/**
 * Asks one question per distinct key, and returns the answers that arrive before the deadline. Pending questions are
 * interrupted.
 *
 * @param deadline.within time limit for all questions together
 * @param deadline.atOnce how many questions run at once
 */
export const answersInTime = <Key, A>(
  keys: Iterable<Key>,
  ask: (key: Key) => Effect.Effect<A>,
  deadline: { readonly within: Duration.Input; readonly atOnce: number },
): Effect.Effect<ReadonlyMap<Key, A>> =>
  Effect.suspend(() => {
    const answers = new Map<Key, A>();
    const asked = forEachLimited(new Set(keys), deadline.atOnce, (key) =>
      Effect.map(ask(key), (answer) => void answers.set(key, answer)),
    );
    return Effect.as(Effect.timeoutOption(asked, deadline.within), answers);
  });
