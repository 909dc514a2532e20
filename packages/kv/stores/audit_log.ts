import { AuditLog } from "@accountlink/core";
import { type AuditEntry, type AuditFilter, auditActions, isSelected } from "@accountlink/core/audit";
import { entryOf, withoutEntry } from "@accountlink/core/journal";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { Effect } from "effect";
import type { Transaction } from "../transaction.ts";
import { accountPlace, isIndexed, journal, pidOf, places, type StoredRecord } from "./journal.ts";
import { accountNamed, scopes } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";
import { sweepPlaces } from "./sweep_places.ts";

const pageSize = 200;

export const layer = storeLayer(AuditLog, (db) => ({
  list: (name, before, limit, filter) =>
    db.read(function* (tx) {
      const account = yield* accountNamed(tx, name);
      if (account === undefined) return [];
      const ofAccount = yield* tx.list(scopes.byAccount, [account.id]);
      const all = [accountPlace(account.id), ...ofAccount.map(({ pid }) => pid)].filter(
        (place) => (filter?.pid ?? place) === place && (filter?.pids?.some((pid) => pid === place) ?? true),
      );
      const entries: Array<AuditEntry> = [];
      let end = before ?? Number.MAX_SAFE_INTEGER;
      let size = limit;
      for (;;) {
        const page = yield* pageBefore(tx, all, end, size, filter);
        for (const stored of page) {
          const { place, sequence } = stored;
          const entry = entryOf(stored, { sequence, account: name, pid: pidOf(place) });
          if (entry !== undefined && isSelected(entry, filter)) entries.push(entry);
        }
        const last = page.at(-1);
        if (entries.length >= limit || last === undefined || page.length < size)
          return entries.slice(0, limit);
        end = last.sequence;
        size = pageSize;
      }
    }),

  forget: (before) =>
    sweepPlaces(db, before, {
      index: places.byEntry,
      oldest: "oldestEntry",
      isMeant: ({ actor }) => actor !== null,
      sweep: (tx, { start }, old) =>
        Effect.forEach(
          old,
          (stored) => {
            const { place, sequence, event } = stored;
            // The event stays as long as the feed has it.
            return event !== null && sequence > start
              ? tx.put(journal, { ...stored, ...withoutEntry(stored) })
              : Effect.asVoid(tx.remove(journal, place, sequence));
          },
          { discard: true },
        ).pipe(Effect.as({})),
    }),
}));

/** Records among which are the next entries that a filter selects, newest first. */
const pageBefore = Effect.fnUntraced(function* (
  tx: Transaction,
  all: ReadonlyArray<string>,
  before: number,
  limit: number,
  { action = null, chatId = null, readable = null }: Partial<AuditFilter> = {},
) {
  const options = { before: [before], limit, reverse: true };
  const wanted = (readable ?? auditActions).filter((each) => action === null || each === action);
  const readPlace = (place: string) => {
    if (chatId !== null) return tx.list(journal.byUser, [chatId, place], options);
    if (!wanted.every(isIndexed)) return tx.scan(journal, [place], options);
    const ofAction = (each: string) => tx.list(journal.byAction, [place, each], options);
    return Effect.map(forEachLimited(wanted, ofAction, { concurrency: 8 }), (found) => found.flat());
  };
  const found = yield* forEachLimited(all, readPlace, { concurrency: 8 });
  return found
    .flat()
    .toSorted((one: StoredRecord, other: StoredRecord) => other.sequence - one.sequence)
    .slice(0, limit);
});
