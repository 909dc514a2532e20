import type { Sighting } from "../addresses/sighting.ts";
import type { ChatId } from "../ids.ts";
import type { SharedSightings } from "./sighting_store.ts";

/**
 * Selects the users for `SightingStore.findShared`: the `limit` most recently seen users in `sightings`, without the
 * excluded users. Users seen at the same time are sorted by chat ID as a string.
 *
 * @param sightings for each address, at least the latest `limit` sightings of users who are not excluded
 *
 * @internal
 */
export const latestUsers = (
  sightings: Iterable<Sighting>,
  { excluding, limit }: SharedSightings,
): ReadonlyArray<ChatId> => {
  const excluded = new Set(excluding);
  const lastSeenAt = new Map<ChatId, number>();
  for (const { chatId, seenAt } of sightings) {
    if (excluded.has(chatId)) continue;
    lastSeenAt.set(chatId, Math.max(seenAt, lastSeenAt.get(chatId) ?? seenAt));
  }
  return [...lastSeenAt]
    .toSorted(([one, seen], [other, seenOther]) => seenOther - seen || (one < other ? -1 : 1))
    .slice(0, limit)
    .map(([chatId]) => chatId);
};
