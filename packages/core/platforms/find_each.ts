import { Effect, Result } from "effect";
import type { PlatformEffect, PlatformUnavailable } from "../errors.ts";
import { forEachLimited } from "../limited_loops.ts";

/** The concurrency of each loop that sends requests to a platform for a client. @internal */
export const platformConcurrency = 8;

/** The cached answers for many keys, found with one read. */
export interface ReadTogether<Key, A> {
  readonly cached: ReadonlyMap<Key, A>;
  readonly ask: (key: Key) => PlatformEffect<A>;
}

export type ReadCached<Key, A> = (keys: ReadonlyArray<Key>) => Effect.Effect<ReadTogether<Key, A>>;

/**
 * Looks up each distinct key, and returns the answer or the failure for each.
 *
 * @param find looks up one key
 * @param readCached undefined if nothing is cached
 * @internal
 */
export const findEach = Effect.fnUntraced(function* <Key, A>(
  keys: Iterable<Key>,
  find: (key: Key) => PlatformEffect<A>,
  readCached: ReadCached<Key, A> | undefined,
): Effect.fn.Return<ReadonlyMap<Key, Result.Result<A, PlatformUnavailable>>> {
  const distinct = [...new Set(keys)];
  const { cached, ask } =
    readCached === undefined || distinct.length < 2
      ? { cached: new Map<Key, A>(), ask: find }
      : yield* readCached(distinct);
  const asked = yield* forEachLimited(
    distinct.filter((key) => !cached.has(key)),
    platformConcurrency,
    (key) => Effect.map(Effect.result(ask(key)), (found) => [key, found] as const),
  );
  const known = Array.from(cached, ([key, found]) => [key, Result.succeed(found)] as const);
  return new Map<Key, Result.Result<A, PlatformUnavailable>>([...known, ...asked]);
});
