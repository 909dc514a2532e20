import type { Pid, Sighting } from "@accountlink/core";
import type { Memory } from "./state.ts";
import { assertStorable } from "./storable_text.ts";

/** Stores sightings of a scope. Of several times at one address only the last is kept. */
export const storeSightings = (memory: Memory, pid: Pid, sightings: ReadonlyArray<Sighting>): void => {
  memory.linksOf(pid);
  for (const { address } of sightings) assertStorable(...Object.values(address));
  const known = memory.sightings.get(pid) ?? new Map<string, Sighting>();
  memory.sightings.set(pid, known);
  for (const sighting of sightings) {
    const key = `${sighting.chatId} ${sighting.address.hash}`;
    if ((known.get(key)?.seenAt ?? sighting.seenAt) <= sighting.seenAt) known.set(key, sighting);
  }
};
