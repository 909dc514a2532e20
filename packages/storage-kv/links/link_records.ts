/** Writes of link records, which keep the numbers of links of their scope. */
import type { Pid } from "@accountlink/core";
import { isLinked, type LinkRecord } from "@accountlink/core/links";
import { startOfDay } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { linkCounts, links } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

export const putLink = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, record: LinkRecord) {
  const before = yield* links.find(tx, pid, record.chatId);
  yield* links.put(tx, { pid, record });
  yield* recount(tx, pid, countsOf(before?.record), countsOf(record));
});

export const removeLink = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, record: LinkRecord) {
  yield* links.remove(tx, pid, record.chatId);
  yield* recount(tx, pid, countsOf(record), []);
});

type CountName = Parameters<typeof linkCounts.find>[2];

/** The counts that a record is part of. */
const countsOf = (record: LinkRecord | undefined): ReadonlyArray<CountName> =>
  record !== undefined && isLinked(record) ? ["all", startOfDay(record.lastVerifiedAt)] : [];

const recount = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  before: ReadonlyArray<CountName>,
  after: ReadonlyArray<CountName>,
) {
  for (const of of before) if (!after.includes(of)) yield* add(tx, pid, of, -1);
  for (const of of after) if (!before.includes(of)) yield* add(tx, pid, of, 1);
});

const add = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, of: CountName, more: 1 | -1) {
  const count = ((yield* linkCounts.find(tx, pid, of))?.links ?? 0) + more;
  yield* count === 0 ? linkCounts.remove(tx, pid, of) : linkCounts.put(tx, { pid, of, links: count });
});
