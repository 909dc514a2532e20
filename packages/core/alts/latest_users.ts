import type { Sighting } from "../addresses/sighting.ts";
import type { ChatId } from "../ids.ts";
import type { SharedSightings } from "./sighting_store.ts";

/**
 * The chat users that `SightingStore.findShared` looks for: those of the sightings who were seen last, ties by chat ID
 * as strings.
 *
 * @param sightings those at the addresses; of each address at least the latest `limit` of users who are not excluded
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
