import type { ChatId } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { UserStore, unfinishedAfter, userRecordsOf } from "@accountlink/core/users";
import { Effect } from "effect";
import { txOf } from "../records.ts";
import type { Transaction } from "../transaction.ts";
import { eraseUser, erasures } from "./erase_user.ts";
import { accountPlace, entriesOf, recordsNaming, type StoredRecord } from "./journal.ts";
import { findRecord, links } from "./links.ts";
import { accountNamed, accountOf, accounts, byName, scopeAt, withScope } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

const recordsOf = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const found = [];
  for (const { pid } of yield* tx.list(links.byUser, [chatId])) {
    const record = yield* findRecord(tx, pid, chatId);
    if (record !== undefined) found.push({ scope: yield* withScope(tx, yield* scopeAt(tx, pid)), record });
  }
  return found;
});

export const layer = storeLayer(UserStore, (db) => ({
  find: (chatId) =>
    db.read(function* (tx) {
      const own = yield* tx.list(accounts.byUser, [chatId]);
      const records = yield* recordsOf(tx, chatId);
      const pids = records.map(({ scope }) => scope.pid);
      return {
        accounts: own.map(accountOf).toSorted(byName),
        records,
        ...(yield* userRecordsOf(txOf(tx), chatId, pids)),
      };
    }),

  entries: (chatId, after, limit) =>
    db.read(function* (tx) {
      const names = (yield* tx.list(accounts.byUser, [chatId])).map(({ name }) => name);
      let last = after && { place: yield* placeOfEntry(tx, after), sequence: after.sequence };
      for (;;) {
        const found: ReadonlyArray<StoredRecord> = yield* recordsNaming(tx, chatId, names, limit, last);
        const entries = yield* entriesOf(tx, found);
        last = found.at(-1) ?? null;
        if (entries.length > 0 || last === null) return entries;
      }
    }),

  findRecords: (chatId) => db.read((tx) => recordsOf(tx, chatId)),

  erase: (write) => eraseUser(db, write),

  unfinished: (now) =>
    db.read(function* (tx) {
      const found = yield* tx.scan(erasures, []);
      return found
        .filter(({ stepAt }) => stepAt <= now - unfinishedAfter)
        .map(({ stepAt: _, scopes: _scopes, ...erasure }) => erasure);
    }),
}));

const placeOfEntry = Effect.fnUntraced(function* (tx: Transaction, { account, pid }: AuditEntry) {
  return pid ?? accountPlace((yield* accountNamed(tx, account))?.id ?? 0);
});
