import type { Pid } from "@accountlink/core";
import { isAtAddress, placeOf, type Sighting } from "@accountlink/core/addresses";
import {
  type FoundSighting,
  latestUsers,
  type ReprotectedSighting,
  type SharedSightings,
  SightingStore,
  type StoredSighting,
} from "@accountlink/core/alts";
import { Effect, Layer } from "effect";
import { Database } from "../records/database.ts";
import { placeUsers, sightings } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { removeSighting, storeSightings } from "./sightings.ts";

export const layer: Layer.Layer<SightingStore, never, Database> = Layer.effect(
  SightingStore,
  Effect.map(Database, (db) =>
    SightingStore.of({
      findByChatIds: (pid, chatIds) =>
        db.read("SightingStore.findByChatIds", (tx) =>
          Effect.map(
            Effect.forEach(new Set(chatIds), (chatId) => sightings.scan(tx, [pid, chatId])),
            (found) => found.flat().map(({ sighting }) => sighting),
          ),
        ),
      findShared: (pid, query) => db.read("SightingStore.findShared", (tx) => findShared(tx, pid, query)),
      countUsers: (pid, places) =>
        db.read("SightingStore.countUsers", (tx) =>
          Effect.forEach(places, (hashes) => countUsers(tx, pid, hashes)),
        ),
      countByKey: () => db.read("SightingStore.countByKey", countByKey),
      listUnderOtherKeys: (addressKeyId, after, limit) =>
        db.read("SightingStore.listUnderOtherKeys", (tx) =>
          listUnderOtherKeys(tx, addressKeyId, after, limit),
        ),
      reprotect: (pid, changes) => db.write("SightingStore.reprotect", (tx) => reprotect(tx, pid, changes)),
    }),
  ),
);

const findShared = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, query: SharedSightings) {
  const { hashes, including, excluding, limit } = query;
  const latest: Array<Sighting> = [];
  for (const hash of hashes) {
    const there = yield* sightings.list(tx, "place", [pid, hash], { limit: limit + excluding.length });
    latest.push(...there.map(({ sighting }) => sighting));
  }
  const users = new Set([...latestUsers(latest, query), ...including]);
  const found = yield* sightings.findAll(
    tx,
    [...users].flatMap((chatId) => hashes.map((hash) => [pid, chatId, hash] as const)),
  );
  return found.map(
    ({ sighting }): FoundSighting => ({
      chatId: sighting.chatId,
      hash: placeOf(sighting),
      seenAt: sighting.seenAt,
    }),
  );
});

const countUsers = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, hashes: ReadonlyArray<string>) {
  const counts = yield* placeUsers.findAll(
    tx,
    hashes.map((hash) => [pid, hash]),
  );
  const [first] = counts;
  if (first === undefined || counts.length === 1) return first?.users ?? 0;
  const users = yield* Effect.forEach(counts, ({ place }) => sightings.list(tx, "place", [pid, place]));
  return new Set(users.flat().map(({ sighting }) => sighting.chatId)).size;
});

const countByKey = Effect.fnUntraced(function* (tx: Transaction) {
  const counts = new Map<string, number>();
  for (const { sighting } of yield* sightings.scan(tx, [])) {
    if (!isAtAddress(sighting)) continue;
    const { addressKeyId } = sighting.address;
    counts.set(addressKeyId, (counts.get(addressKeyId) ?? 0) + 1);
  }
  return counts;
});

const listUnderOtherKeys = Effect.fnUntraced(function* (
  tx: Transaction,
  addressKeyId: string,
  after: StoredSighting | null,
  limit: number,
) {
  const others: Array<StoredSighting> = [];
  let last = after === null ? null : { pid: after.pid, sighting: after as Sighting };
  while (others.length < limit) {
    const start = last === null ? {} : { after: [last.pid, last.sighting.chatId, placeOf(last.sighting)] };
    const page = yield* sightings.scan(tx, [], { ...start, limit });
    for (const { pid, sighting } of page) {
      if (!isAtAddress(sighting) || sighting.address.addressKeyId === addressKeyId) continue;
      others.push({ pid, ...sighting });
    }
    last = page.at(-1) ?? null;
    if (page.length < limit) break;
  }
  return others.slice(0, limit);
});

const reprotect = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  changes: ReadonlyArray<ReprotectedSighting>,
) {
  for (const { chatId, hash, address } of changes) {
    const found = yield* sightings.find(tx, pid, chatId, hash);
    if (found === undefined || !isAtAddress(found.sighting)) continue;
    yield* removeSighting(tx, pid, found.sighting);
    yield* storeSightings(tx, pid, [{ ...found.sighting, address }]);
  }
});
