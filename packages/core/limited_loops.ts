/**
 * Loops with a limit of concurrency. Those of Effect 4.1 run an item twice and leave another out if an item that they
 * are starting ends another one at once, for example because it commits the transaction that both share. Here each item
 * after the first one, which can end no other, starts after the loop has paused.
 */
import { Effect } from "effect";

interface Limit {
  readonly concurrency: number | "unbounded";
}

/** `Effect.forEach` with a limit. @internal */
export const forEachLimited = <A, B, E, R>(
  items: Iterable<A>,
  each: (item: A, index: number) => Effect.Effect<B, E, R>,
  options: Limit,
): Effect.Effect<Array<B>, E, R> =>
  Effect.forEach(
    items,
    (item, index) =>
      index === 0 ? each(item, index) : Effect.flatMap(Effect.yieldNow, () => each(item, index)),
    options,
  );

/** `Effect.filter` with a limit. @internal */
export const filterLimited = <A, E, R>(
  items: ReadonlyArray<A>,
  test: (item: A) => Effect.Effect<boolean, E, R>,
  options: Limit,
): Effect.Effect<Array<A>, E, R> =>
  Effect.map(forEachLimited(items, test, options), (passed) => items.filter((_, index) => passed[index]));
