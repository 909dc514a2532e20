/** The new links of a community that resemble others. */
import { Array, Clock, Effect } from "effect";
import type { DataScope } from "../data_scope.ts";
import { groupBy } from "../group_by.ts";
import { LinkStore } from "../links/link_store.ts";
import { dayMs } from "../timestamp.ts";
import { type FoundSuspect, SuspectStore } from "./suspect_store.ts";

/** How many days a new link stays in the queue. @internal */
export const queueDays = 7;

/** The pairs of a new link. @internal */
export type SuspectedLink = Array.NonEmptyReadonlyArray<FoundSuspect>;

/**
 * Returns a function that lists the new links that are still there, newest first, each with similar users, the most similar
 * first. @internal
 */
export const makeAltQueue = Effect.gen(function* () {
  const suspects = yield* SuspectStore;
  const links = yield* LinkStore;

  return Effect.fnUntraced(function* ({ pid }: Pick<DataScope, "pid">) {
    const found = yield* suspects.find(pid, (yield* Clock.currentTimeMillis) - queueDays * dayMs);
    const current = yield* links.findByChatIds(pid, [...new Set(found.map(({ chatId }) => chatId))]);
    const byLink = groupBy(
      found.filter(({ chatId, gameId }) => current.get(chatId)?.gameId === gameId),
      ({ chatId }) => chatId,
    );
    return [...byLink.values()]
      .map((pairs) => pairs.toSorted((one, other) => other.score - one.score))
      .filter(Array.isArrayNonEmpty);
  });
});

/** Returns how many links of a queue wait for a decision. @internal */
export const countUndecided = (queue: ReadonlyArray<SuspectedLink>): number =>
  queue.filter((pairs) => pairs.some(({ verdict }) => verdict === null)).length;
