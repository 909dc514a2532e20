import type { Pid } from "@accountlink/core";
import type { Sighting } from "@accountlink/core/addresses";
import { assertStorable } from "@accountlink/core/storable_text";
import { ScopeSightings } from "../state/scope_sightings.ts";
import type { Memory } from "../state/state.ts";

/** Stores sightings of a scope; the latest for each chat user and address. */
export const storeSightings = (memory: Memory, pid: Pid, sightings: ReadonlyArray<Sighting>): void => {
  memory.linksOf(pid);
  for (const { address } of sightings) assertStorable(Object.values(address));
  const known = memory.sightings.get(pid) ?? new ScopeSightings();
  memory.sightings.set(pid, known);
  for (const sighting of sightings) {
    const { chatId, address, seenAt } = sighting;
    if ((known.find(chatId, address.hash)?.seenAt ?? seenAt) <= seenAt) known.put(sighting);
  }
};
