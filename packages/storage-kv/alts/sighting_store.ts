/** `SightingStore` on a key-value store. */
import type { Pid } from "@accountlink/core";
import type { Sighting } from "@accountlink/core/addresses";
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
import { addressUsers, sightings } from "../records/schema.ts";
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
      countUsers: (pid, addresses) =>
        db.read("SightingStore.countUsers", (tx) =>
          Effect.forEach(addresses, (hashes) => countUsers(tx, pid, hashes)),
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
    const there = yield* sightings.list(tx, "address", [pid, hash], { limit: limit + excluding.length });
    latest.push(...there.map(({ sighting }) => sighting));
  }
  const users = new Set([...latestUsers(latest, query), ...including]);
  const found = yield* sightings.findAll(
    tx,
    [...users].flatMap((chatId) => hashes.map((hash) => [pid, chatId, hash] as const)),
  );
  return found.map(
    ({ sighting: { chatId, address, seenAt } }): FoundSighting => ({ chatId, hash: address.hash, seenAt }),
  );
});

const countUsers = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, hashes: ReadonlyArray<string>) {
  const counts = yield* addressUsers.findAll(
    tx,
    hashes.map((hash) => [pid, hash]),
  );
  const [first] = counts;
  if (first === undefined || counts.length === 1) return first?.users ?? 0;
  const users = yield* Effect.forEach(counts, ({ hash }) => sightings.list(tx, "address", [pid, hash]));
  return new Set(users.flat().map(({ sighting }) => sighting.chatId)).size;
});

const countByKey = Effect.fnUntraced(function* (tx: Transaction) {
  const counts = new Map<string, number>();
  for (const { sighting } of yield* sightings.scan(tx, [])) {
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
  let last = after;
  while (others.length < limit) {
    const start = last === null ? {} : { after: [last.pid, last.chatId, last.address.hash] };
    const page = yield* sightings.scan(tx, [], { ...start, limit });
    const stored = page.map(({ pid, sighting }): StoredSighting => ({ pid, ...sighting }));
    others.push(...stored.filter(({ address }) => address.addressKeyId !== addressKeyId));
    if (page.length < limit) break;
    last = stored.at(-1) ?? null;
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
    if (found === undefined) continue;
    yield* removeSighting(tx, pid, found.sighting);
    yield* storeSightings(tx, pid, [{ ...found.sighting, address }]);
  }
});
