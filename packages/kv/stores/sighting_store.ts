import type { ChatId } from "@accountlink/core";
import { type AddressSighting, isAtAddress, placeOf } from "@accountlink/core/addresses";
import { type StoredSighting as Found, SightingStore } from "@accountlink/core/alts";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Order } from "effect";
import { itemsOf } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { epochOf, scopeAt } from "./scopes.ts";
import { findSighting, keysOfSighting, type StoredSighting, sightings, storeSightings } from "./sightings.ts";
import { storeLayer } from "./store_layer.ts";

const latestFirst = Order.combineAll<StoredSighting>([
  Order.mapInput(Order.flip(Order.Number), ({ sighting }) => sighting.seenAt),
  Order.mapInput(Order.String, ({ sighting }) => sighting.chatId),
  Order.mapInput(Order.String, ({ sighting }) => placeOf(sighting)),
]);

const inOrder = Order.combineAll<Found>([
  Order.mapInput(Order.String, ({ pid }) => pid),
  Order.mapInput(Order.String, ({ chatId }) => chatId),
  Order.mapInput(Order.String, ({ address }) => address.hash),
]);

export const layer = storeLayer(SightingStore, (db) => ({
  findByChatIds: (pid, chatIds, limit) =>
    db.read(function* (tx) {
      const epoch = yield* epochOf(tx, pid);
      const found: Array<StoredSighting> = [];
      for (const chatId of new Set(chatIds)) {
        found.push(...(yield* tx.list(sightings.byUserOfScope, [pid, epoch, chatId], { limit })));
      }
      return found
        .toSorted(latestFirst)
        .slice(0, limit)
        .map(({ sighting }) => sighting);
    }),

  findShared: (pid, { hashes, including, excluding, limit }) =>
    db.read(function* (tx) {
      const epoch = yield* epochOf(tx, pid);
      const places = [...new Set(hashes)];
      // The latest sighting of each wanted user is among the latest ones at its place.
      const most = limit + excluding.length;
      const lists = yield* Effect.forEach(
        places,
        (hash) => tx.list(sightings.byPlace, [pid, epoch, hash], { limit: most }),
        { concurrency: "unbounded" },
      );
      const seenAt = new Map<ChatId, number>();
      for (const { sighting } of lists.flat()) {
        const { chatId } = sighting;
        if (excluding.includes(chatId)) continue;
        seenAt.set(chatId, Math.max(sighting.seenAt, seenAt.get(chatId) ?? sighting.seenAt));
      }
      const latest = [...seenAt]
        .toSorted(([one, seen], [other, seenOther]) => seenOther - seen || Order.String(one, other))
        .slice(0, limit);
      const users = new Set([...latest.map(([chatId]) => chatId), ...including]);
      // Only places with more sightings than were listed may have others of the users.
      const crowded = places.filter((_, index) => lists[index]?.length === most);
      const pairs = crowded.flatMap((hash) => Array.from(users, (chatId) => ({ chatId, hash })));
      const read = yield* tx.getAll(sightings, pairs, ({ chatId, hash }) => [pid, chatId, hash]);
      const found = [...lists.filter(({ length }) => length < most).flat(), ...read];
      return found.flatMap((stored) => {
        if (stored?.epoch !== epoch || !users.has(stored.sighting.chatId)) return [];
        const { chatId, seenAt: lastSeen } = stored.sighting;
        return [{ chatId, hash: placeOf(stored.sighting), seenAt: lastSeen }];
      });
    }),

  countUsers: (pid, places) =>
    db.read(function* (tx) {
      const epoch = yield* epochOf(tx, pid);
      return yield* Effect.forEach(
        places,
        Effect.fnUntraced(function* (hashes) {
          const [first, ...others] = new Set(hashes);
          if (first === undefined) return 0;
          if (others.length === 0) return yield* tx.count(sightings.byPlace, [pid, epoch, first]);
          const users = new Set<ChatId>();
          for (const hash of new Set(hashes)) {
            const found = yield* tx.list(sightings.byPlace, [pid, epoch, hash]);
            for (const { sighting } of found) users.add(sighting.chatId);
          }
          return users.size;
        }),
        { concurrency: "unbounded" },
      );
    }),

  countByKey: () =>
    db.read(function* (tx) {
      const counts = new Map<string, number>();
      for (const key of yield* addressKeys(tx)) counts.set(key, yield* tx.count(sightings.byKey, [key]));
      return counts;
    }),

  listUnderOtherKeys: (addressKeyId, after, limit) =>
    db.read(function* (tx) {
      const found: Array<Found> = [];
      const options = {
        ...(after !== null && { after: [after.pid, after.chatId, after.address.hash] }),
        limit,
      };
      for (const key of yield* addressKeys(tx)) {
        if (key === addressKeyId) continue;
        for (const { pid, sighting } of yield* tx.list(sightings.byKey, [key], options)) {
          if (isAtAddress(sighting)) found.push({ pid, ...sighting });
        }
      }
      return found.toSorted(inOrder).slice(0, limit);
    }),

  reprotect: (pid, replaced) =>
    Effect.gen(function* () {
      for (const { address } of replaced) assertStorable(Object.values(address));
      for (const part of Arr.chunksOf(replaced, itemsOf(db, 2 * keysOfSighting))) {
        yield* db.write(pid, function* (tx) {
          const { epoch } = yield* scopeAt(tx, pid);
          for (const { chatId, hash, address } of part) {
            const found = yield* findSighting(tx, pid, epoch, chatId, hash);
            if (found === undefined || !isAtAddress(found.sighting)) continue;
            yield* tx.remove(sightings, pid, chatId, hash);
            yield* storeSightings(tx, pid, [{ chatId, address, seenAt: found.sighting.seenAt }]);
          }
        });
      }
    }),
}));

/** The address keys that have sightings: one read for each. */
const addressKeys = Effect.fnUntraced(function* (tx: Transaction) {
  const keys: Array<string> = [];
  for (;;) {
    const last = keys.at(-1);
    const after = last === undefined ? {} : { after: [last] };
    const [next] = yield* tx.list(sightings.byKey, [], { ...after, limit: 1 });
    if (next === undefined) return keys;
    keys.push((next.sighting as AddressSighting).address.addressKeyId);
  }
});
