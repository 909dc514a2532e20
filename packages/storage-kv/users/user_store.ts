/** `UserStore` on a key-value store. */
import type { ChatId } from "@accountlink/core";
import { reviewAsSeenBy } from "@accountlink/core/alts";
import { inOrder, type ScopedRecord, UserStore, withoutUser } from "@accountlink/core/users";
import { Effect, Layer } from "effect";
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
    sightings: yield* sightings.list(tx, "chat", [chatId]),
    reviews: reviewed.map(({ pid, review }) => ({ pid, review: reviewAsSeenBy(chatId, review) })),
    sessions: (yield* sessions.list(tx, "chat", [chatId])).map(({ session }) => session),
    flows: yield* flows.list(tx, "chat", [chatId]),
    signIns: yield* signIns.list(tx, "chat", [chatId]),
    entries: (yield* entries.scan(tx, [])).filter((entry) => withoutUser(entry, chatId, names) !== null),
  });
});

const findRecords = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const records: Array<ScopedRecord> = [];
  for (const { pid, record } of yield* links.list(tx, "chat", [chatId])) {
    const scope = yield* scopes.find(tx, pid);
    if (scope !== undefined) records.push({ scope, record });
  }
  return records;
});
