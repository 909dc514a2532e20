/** The rotation of sightings in memory. */
import { type Pid, type ReprotectedSighting, SightingStore, type StoredSighting } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { type Memory, State } from "./internal/state.ts";
import { assertStorable } from "./internal/storable_text.ts";
import { storeSightings } from "./internal/store_sightings.ts";

export const layer: Layer.Layer<SightingStore, never, State> = Layer.effect(
  SightingStore,
  Effect.map(State, (memory) =>
    SightingStore.of({
      countByKey: () =>
        Effect.sync(() => {
          const counts = new Map<string, number>();
          for (const { address } of allSightings(memory)) {
            counts.set(address.addressKeyId, (counts.get(address.addressKeyId) ?? 0) + 1);
          }
          return counts;
        }),
      listUnderOtherKeys: (addressKeyId, after, limit) =>
        Effect.sync(() =>
          allSightings(memory)
            .filter(({ address }) => address.addressKeyId !== addressKeyId)
            .filter((sighting) => after === null || compare(sighting, after) > 0)
            .toSorted(compare)
            .slice(0, limit),
        ),
      reprotect: (pid, sightings) => Effect.sync(() => reprotect(memory, pid, sightings)),
    }),
  ),
);

const allSightings = (memory: Memory): ReadonlyArray<StoredSighting> =>
  [...memory.sightings].flatMap(([pid, sightings]) =>
    Array.from(sightings.values(), (sighting) => ({ pid, ...sighting })),
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
  for (const { address } of sightings) assertStorable(...Object.values(address));
  const known = memory.sightings.get(pid);
  for (const { chatId, hash, address } of sightings) {
    const name = `${chatId} ${hash}`;
    const sighting = known?.get(name);
    if (sighting === undefined) continue;
    known?.delete(name);
    storeSightings(memory, pid, [{ ...sighting, address }]);
  }
};
