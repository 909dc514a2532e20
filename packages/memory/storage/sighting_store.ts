import type { Pid } from "@accountlink/core";
import { isAtAddress, placeOf, type Sighting, textsOf } from "@accountlink/core/addresses";
import { type ReprotectedSighting, SightingStore, type StoredSighting } from "@accountlink/core/alts";
import { assertStorable } from "@accountlink/core/storable_text";
import { getOrInsert } from "./state/get_or_insert.ts";
import { ScopeSightings } from "./state/scope_sightings.ts";
import { layerOf, type Memory } from "./state/state.ts";

export const layer = layerOf(SightingStore, (memory) => ({
  findByChatIds: (pid, chatIds) => {
    const sightings = memory.sightings.get(pid);
    return [...new Set(chatIds)].flatMap((chatId) => sightings?.of(chatId) ?? []);
  },
  findShared: (pid, query) => memory.sightings.get(pid)?.findShared(query) ?? [],
  countUsers: (pid, places) => places.map((hashes) => memory.sightings.get(pid)?.countUsers(hashes) ?? 0),
  countByKey: () => {
    const counts = new Map<string, number>();
    for (const { address } of allAtAddresses(memory)) {
      counts.set(address.addressKeyId, (counts.get(address.addressKeyId) ?? 0) + 1);
    }
    return counts;
  },
  listUnderOtherKeys: (addressKeyId, after, limit) =>
    allAtAddresses(memory)
      .filter(({ address }) => address.addressKeyId !== addressKeyId)
      .filter((sighting) => after === null || compare(sighting, after) > 0)
      .toSorted(compare)
      .slice(0, limit),
  reprotect: (pid, sightings) => reprotect(memory, pid, sightings),
}));

const allAtAddresses = (memory: Memory): ReadonlyArray<StoredSighting> =>
  [...memory.sightings].flatMap(([pid, sightings]) =>
    sightings
      .all()
      .filter(isAtAddress)
      .map((sighting) => ({ pid, ...sighting })),
  );

const compare = (one: StoredSighting, other: StoredSighting): number => {
  const differing = [
    [one.pid, other.pid],
    [one.chatId, other.chatId],
    [one.address.hash, other.address.hash],
  ].find(([a, b]) => a !== b);
  if (differing === undefined) return 0;
  const [a = "", b = ""] = differing;
  return a < b ? -1 : 1;
};

const reprotect = (memory: Memory, pid: Pid, sightings: ReadonlyArray<ReprotectedSighting>): void => {
  for (const { address } of sightings) assertStorable(Object.values(address));
  const known = memory.sightings.get(pid);
  for (const { chatId, hash, address } of sightings) {
    const sighting = known?.find(chatId, hash);
    if (sighting === undefined || !isAtAddress(sighting)) continue;
    known?.remove(chatId, hash);
    storeSightings(memory, pid, [{ ...sighting, address }]);
  }
};

/**
 * Stores sightings of a scope. For each chat user and place (an address or a browser), only the latest sighting and the
 * time of the first one are kept.
 */
export const storeSightings = (memory: Memory, pid: Pid, sightings: ReadonlyArray<Sighting>): void => {
  memory.linksOf(pid);
  assertStorable(sightings.flatMap(textsOf));
  const known = getOrInsert(memory.sightings, pid, () => new ScopeSightings());
  for (const sighting of sightings.toSorted((one, other) => one.seenAt - other.seenAt)) {
    const { chatId, seenAt } = sighting;
    if ((known.find(chatId, placeOf(sighting))?.seenAt ?? seenAt) <= seenAt) known.put(sighting);
  }
};
