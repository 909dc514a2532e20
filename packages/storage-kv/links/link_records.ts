/** Writes of link records, which keep the number of links of their scope. */
import type { Pid } from "@accountlink/core";
import { isLinked, type LinkRecord } from "@accountlink/core/links";
import { Effect } from "effect";
import { linkCounts, links } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

export const putLink = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, record: LinkRecord) {
  const before = yield* links.find(tx, pid, record.chatId);
  yield* links.put(tx, { pid, record });
  yield* count(tx, pid, numberOf(record) - numberOf(before?.record));
});

export const removeLink = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, record: LinkRecord) {
  yield* links.remove(tx, pid, record.chatId);
  yield* count(tx, pid, -numberOf(record));
});

const count = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, more: number) {
  if (more === 0) return;
  const before = (yield* linkCounts.find(tx, pid))?.links ?? 0;
  yield* linkCounts.put(tx, { pid, links: before + more });
});

const numberOf = (record: LinkRecord | undefined): 0 | 1 =>
  record !== undefined && isLinked(record) ? 1 : 0;
