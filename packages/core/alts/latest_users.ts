import type { Sighting } from "../addresses/sighting.ts";
import type { ChatId } from "../ids.ts";
import type { SharedSightings } from "./sighting_store.ts";

/**
 * Selects the users that `SightingStore.findShared` finds: up to `limit` users in `sightings` who are not excluded,
 * most recently seen first; equal times sort by chat ID as strings.
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
