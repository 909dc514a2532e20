/** Many questions to something slow, with one deadline for all. */
import { type Duration, Effect } from "effect";

/**
 * Asks about each distinct key, and gives the answers that came before the deadline. The others are interrupted.
 *
 * @param deadline.within how long all of them may take together
 * @param deadline.atOnce how many are asked at a time
 */
export const answersInTime = <Key, A>(
  keys: Iterable<Key>,
  ask: (key: Key) => Effect.Effect<A>,
  deadline: { readonly within: Duration.Input; readonly atOnce: number },
): Effect.Effect<ReadonlyMap<Key, A>> =>
  Effect.suspend(() => {
    const answers = new Map<Key, A>();
    const asked = Effect.forEach(
      new Set(keys),
      (key) => Effect.map(ask(key), (answer) => void answers.set(key, answer)),
      { concurrency: deadline.atOnce, discard: true },
    );
    return Effect.as(Effect.timeoutOption(asked, deadline.within), answers);
  });
