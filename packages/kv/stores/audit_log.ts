import { AuditLog } from "@accountlink/core";
import { type AuditFilter, auditActions, newestOf, searchEntries } from "@accountlink/core/audit";
import type { StoreEffect } from "@accountlink/core/errors";
import { entryOf, withoutEntry } from "@accountlink/core/journal";
import { forEachLimited } from "@accountlink/core/limited_loops";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { Transaction } from "../transaction.ts";
import { accountPlace, isIndexed, journal, pidOf, places, type StoredRecord } from "./journal.ts";
import { purgeAll } from "./purges.ts";
import { accountNamed, scopes } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";
import { sweepPlaces } from "./sweep_places.ts";

export const layer = storeLayer(AuditLog, (db) => ({
  list: (name, before, limit, filter) =>
    db.read(function* (tx) {
      const account = yield* accountNamed(tx, name);
      if (account === undefined) return { entries: [], next: null };
      const ofAccount = yield* tx.list(scopes.byAccount, [account.id]);
      const all = [accountPlace(account.id), ...ofAccount.map(({ pid }) => pid)].filter(
        (place) => (filter?.pid ?? place) === place && (filter?.pids?.some((pid) => pid === place) ?? true),
      );
      return yield* searchEntries(
        name,
        {
          read: (end, size) => pageBefore(tx, all, end, size, filter),
          entryIn: (stored) =>
            entryOf(stored, { sequence: stored.sequence, account: name, pid: pidOf(stored.place) }),
          lastBefore: (newest, time) => lastBefore(tx, all, newest, time),
        },
        before,
        limit,
        filter,
      );
    }),

  forget: (before) =>
    // No port asks for the rest of deletions that were interrupted.
    Effect.andThen(
      purgeAll(db),
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
    ),
}));

/** A search need not halve this many sequences: a minute writes as many. */
const closeSequences = 6_000_000;

/**
 * Finds where the records end that are older than a time, up to the sequence `newest`: halves the sequences of each
 * place, since records are nearly in order of time, and no index has their times.
 */
const lastBefore = Effect.fnUntraced(function* (
  tx: Transaction,
  all: ReadonlyArray<string>,
  newest: number,
  time: Millis,
) {
  const ends = yield* forEachLimited(
    all,
    8,
    Effect.fnUntraced(function* (place) {
      const [last] = yield* tx.scan(journal, [place], { before: [newest], limit: 1, reverse: true });
      let [low, high] = [0, (last?.sequence ?? -1) + 1];
      while (high - low > closeSequences) {
        const middle = Math.floor((low + high) / 2);
        const [first] = yield* tx.scan(journal, [place], { from: [middle], limit: 1 });
        if (first !== undefined && first.at >= time) high = middle;
        else low = middle;
      }
      return high;
    }),
  );
  return Math.max(0, ...ends);
});

/** Records among which are the next entries that a filter selects, newest first. */
const pageBefore = Effect.fnUntraced(function* (
  tx: Transaction,
  all: ReadonlyArray<string>,
  before: number,
  limit: number,
  { action = null, chatId = null, member = null, readable = null }: Partial<AuditFilter> = {},
) {
  const wanted = (readable ?? auditActions).filter((each) => action === null || each === action);
  const user = chatId ?? member;
  const lists: ReadonlyArray<ReadNewest> =
    user !== null
      ? all.map((place) => (end, size) => tx.list(journal.byUser, [user, place], newestBefore(end, size)))
      : wanted.every(isIndexed)
        ? all.flatMap((place) =>
            wanted.map(
              (each): ReadNewest =>
                (end, size) =>
                  tx.list(journal.byAction, [place, each], newestBefore(end, size)),
            ),
          )
        : all.map((place) => (end, size) => tx.scan(journal, [place], newestBefore(end, size)));
  return yield* newestOf(lists, before, limit, (open, most) =>
    forEachLimited(open, 16, ({ list, before: end }) => list(end, most)),
  );
});

const newestBefore = (before: number, limit: number) => ({ before: [before], limit, reverse: true });

/** Reads the newest records before a sequence. */
type ReadNewest = (before: number, limit: number) => StoreEffect<ReadonlyArray<StoredRecord>>;
