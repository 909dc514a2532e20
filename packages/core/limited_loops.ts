/**
 * Loops with a limit of concurrency. Those of Effect 4.1 run an item twice and leave another out if an item that they
 * are starting ends another one at once, for example because it commits the transaction that both share. Here each item
 * after the first one, which can end no other, starts after the loop has paused.
 */
import { Effect } from "effect";

/** `Effect.forEach` with a limit of `concurrency`. @internal */
export const forEachLimited = <A, B, E, R>(
  items: Iterable<A>,
  concurrency: number | "unbounded",
  each: (item: A, index: number) => Effect.Effect<B, E, R>,
): Effect.Effect<Array<B>, E, R> =>
  Effect.forEach(
    items,
    (item, index) =>
      index === 0 ? each(item, index) : Effect.flatMap(Effect.yieldNow, () => each(item, index)),
    { concurrency },
  );

/** `Effect.filter` with a limit of `concurrency`. @internal */
export const filterLimited = <A, E, R>(
  items: ReadonlyArray<A>,
  concurrency: number,
  test: (item: A) => Effect.Effect<boolean, E, R>,
): Effect.Effect<Array<A>, E, R> =>
  Effect.map(forEachLimited(items, concurrency, test), (passed) => items.filter((_, index) => passed[index]));
