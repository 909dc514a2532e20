/** Transactions over imports and links. */
import type { ImportTx } from "@accountlink/core/imports";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import { txOf } from "../records.ts";
import { itemsOf } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { blockTest } from "./blocks.ts";
import { recordPart } from "./journal.ts";
import { findRecordsIn, holdersAmong, links } from "./links.ts";
import { epochOf } from "./scopes.ts";

/** The links of a transaction at most, so that a commit keeps others waiting for some 10 milliseconds. */
const largestPart = 200;

/** How many links of an import a transaction makes or undoes: one changes up to 24 keys, its undo included. */
export const linksOf = (db: Pick<Database, "most">): number =>
  itemsOf(db, 24, { beside: 24, limit: largestPart });

export const importTxOf = (db: Database, tx: Transaction): ImportTx => ({
  ...txOf(tx),

  records: (pid, chatIds) => findRecordsIn(tx, pid, chatIds),

  putRecords: Effect.fnUntraced(function* (pid, records) {
    const epoch = yield* epochOf(tx, pid);
    for (const link of records) {
      const stored = yield* tx.get(links, pid, link.chatId);
      const { removedLinkedAt } = stored?.epoch === epoch ? stored : {};
      yield* tx.put(links, { pid, epoch, link, ...(removedLinkedAt !== undefined && { removedLinkedAt }) });
    }
  }),

  unblocked: (pid, all) =>
    Effect.map(blockTest(tx, pid), (isBlocked) => all.filter((link) => !isBlocked(link))),

  holders: (pid, all, leaving) => holdersAmong(db, tx, pid, all, leaving),

  journalPart: (pid, part, first, isTold) => recordPart(tx, pid, part, first, isTold),

  mostUndone: linksOf(tx),
});
