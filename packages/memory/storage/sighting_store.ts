import type { ChatId, Pid } from "@accountlink/core";
import { isAtAddress, placeOf, type Sighting, textsOf } from "@accountlink/core/addresses";
import { SightingStore, type StoredSighting } from "@accountlink/core/alts";
import { assertStorable } from "@accountlink/core/storable_text";
import { Order } from "effect";
import { layerOf, type Memory } from "./state.ts";

/** Finds sightings of a chat user at a place in O(1), and all others by a scan. */
export const layer = layerOf(SightingStore, (memory) => {
  const allOf = (pid: Pid) =>
    [...memory.sightings.values()].flatMap((stored) => (stored.pid === pid ? [stored.sighting] : []));

  const allAtAddresses = () =>
    [...memory.sightings.values()].flatMap(({ pid, sighting }) =>
      isAtAddress(sighting) ? [{ pid, ...sighting }] : [],
    );

  return {
    findByChatIds: (pid, chatIds, limit) =>
      allOf(pid)
        .filter(({ chatId }) => chatIds.includes(chatId))
        .toSorted(
          (one, other) =>
            other.seenAt - one.seenAt ||
            Order.String(one.chatId, other.chatId) ||
            Order.String(placeOf(one), placeOf(other)),
        )
        .slice(0, limit),

    findShared: (pid, { hashes, including, excluding, limit }) => {
      const there = new Set(hashes);
      const seenAt = new Map<ChatId, number>();
      for (const sighting of allOf(pid)) {
        const { chatId } = sighting;
        if (!there.has(placeOf(sighting)) || excluding.includes(chatId)) continue;
        seenAt.set(chatId, Math.max(sighting.seenAt, seenAt.get(chatId) ?? sighting.seenAt));
      }
      const latest = [...seenAt]
        .toSorted(([one, seen], [other, seenOther]) => seenOther - seen || Order.String(one, other))
        .slice(0, limit);
      return [...new Set([...latest.map(([chatId]) => chatId), ...including])].flatMap((chatId) =>
        hashes.flatMap((hash) => {
          const found = memory.sightings.get(nameOf(pid, chatId, hash));
          return found === undefined ? [] : [{ chatId, hash, seenAt: found.sighting.seenAt }];
        }),
      );
    },

    countUsers: (pid, places) =>
      places.map((hashes) => {
        const seen = allOf(pid).filter((sighting) => hashes.includes(placeOf(sighting)));
        return new Set(seen.map(({ chatId }) => chatId)).size;
      }),

    countByKey: () => {
      const counts = new Map<string, number>();
      for (const { address } of allAtAddresses()) {
        counts.set(address.addressKeyId, (counts.get(address.addressKeyId) ?? 0) + 1);
      }
      return counts;
    },

    listUnderOtherKeys: (addressKeyId, after, limit) =>
      allAtAddresses()
        .filter(({ address }) => address.addressKeyId !== addressKeyId)
        .filter((sighting) => after === null || inOrder(sighting, after) > 0)
        .toSorted(inOrder)
        .slice(0, limit),

    reprotect: (pid, sightings) => {
      for (const { address } of sightings) assertStorable(Object.values(address));
      for (const { chatId, hash, address } of sightings) {
        const found = memory.sightings.get(nameOf(pid, chatId, hash));
        if (found === undefined || !isAtAddress(found.sighting)) continue;
        memory.sightings.delete(nameOf(pid, chatId, hash));
        storeSightings(memory, pid, [{ chatId, address, seenAt: found.sighting.seenAt }]);
      }
    },
  };
});

const nameOf = (pid: Pid, chatId: ChatId, place: string): string => `${pid} ${chatId} ${place}`;

const inOrder = Order.combineAll<StoredSighting>([
  Order.mapInput(Order.String, ({ pid }) => pid),
  Order.mapInput(Order.String, ({ chatId }) => chatId),
  Order.mapInput(Order.String, ({ address }) => address.hash),
]);

/**
 * Stores sightings of a scope. For each chat user and place (an address or a browser), only the latest sighting and the
 * time of the first one are kept.
 */
export const storeSightings = (memory: Memory, pid: Pid, sightings: ReadonlyArray<Sighting>): void => {
  memory.linksOf(pid);
  assertStorable(sightings.flatMap(textsOf));
  for (const sighting of sightings.toSorted((one, other) => one.seenAt - other.seenAt)) {
    const { chatId, seenAt } = sighting;
    const name = nameOf(pid, chatId, placeOf(sighting));
    const known = memory.sightings.get(name);
    if (known !== undefined && known.sighting.seenAt > seenAt) continue;
    memory.sightings.set(name, { pid, sighting, firstSeenAt: known?.firstSeenAt ?? seenAt });
  }
};
