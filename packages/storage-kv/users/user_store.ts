import type { ChatId } from "@accountlink/core";
import { isAtAddress, isInBrowser, type Sighting } from "@accountlink/core/addresses";
import { reviewAsSeenBy } from "@accountlink/core/alts";
import { inOrder, type ScopedRecord, UserStore, withoutUser } from "@accountlink/core/users";
import { Effect, Layer } from "effect";
import { removeSighting } from "../alts/sightings.ts";
import { Database } from "../records/database.ts";
import {
  accounts,
  entries,
  flows,
  links,
  reviews,
  scopes,
  sessions,
  sightings,
  signIns,
} from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { eraseUser } from "./erase_user.ts";

export const layer: Layer.Layer<UserStore, never, Database> = Layer.effect(
  UserStore,
  Effect.map(Database, (db) =>
    UserStore.of({
      find: (chatId) => db.read("UserStore.find", (tx) => find(tx, chatId)),
      findRecords: (chatId) => db.read("UserStore.findRecords", (tx) => findRecords(tx, chatId)),
      findBrowsers: (chatId) =>
        db.read("UserStore.findBrowsers", (tx) => findSightings(tx, chatId, isInBrowser)),
      forgetBrowsers: (chatId) => db.write("UserStore.forgetBrowsers", (tx) => forgetBrowsers(tx, chatId)),
      erase: (write) => db.write("UserStore.erase", (tx) => eraseUser(tx, write)),
    }),
  ),
);

const find = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const owned = yield* accounts.list(tx, "chat", [chatId]);
  const names = owned.map(({ name }) => name);
  const reviewed = yield* reviews.list(tx, "chat", [chatId]);
  return inOrder({
    accounts: owned,
    records: yield* findRecords(tx, chatId),
    sightings: yield* findSightings(tx, chatId, isAtAddress),
    browsers: yield* findSightings(tx, chatId, isInBrowser),
    reviews: reviewed.map(({ pid, review }) => ({ pid, review: reviewAsSeenBy(chatId, review) })),
    sessions: (yield* sessions.list(tx, "chat", [chatId])).map(({ session }) => session),
    flows: yield* flows.list(tx, "chat", [chatId]),
    signIns: yield* signIns.list(tx, "chat", [chatId]),
    entries: (yield* entries.scan(tx, [])).filter((entry) => withoutUser(entry, chatId, names) !== null),
  });
});

const findSightings = <S extends Sighting>(
  tx: Transaction,
  chatId: ChatId,
  isOfKind: (sighting: Sighting) => sighting is S,
) =>
  Effect.map(sightings.list(tx, "chat", [chatId]), (found) =>
    found.flatMap(({ pid, sighting }) => (isOfKind(sighting) ? [{ pid, sighting }] : [])),
  );

const forgetBrowsers = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const found = yield* findSightings(tx, chatId, isInBrowser);
  for (const { pid, sighting } of found) yield* removeSighting(tx, pid, sighting);
  return found.length;
});

const findRecords = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const records: Array<ScopedRecord> = [];
  for (const { pid, record } of yield* links.list(tx, "chat", [chatId])) {
    const scope = yield* scopes.find(tx, pid);
    if (scope !== undefined) records.push({ scope, record });
  }
  return records;
});
