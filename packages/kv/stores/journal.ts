/** The journal. A record has a place: its scope, or its account. */
import type { ChatId, Pid } from "@accountlink/core";
import { entryOf, type JournalRecord, usersIn, withoutEntry } from "@accountlink/core/journal";
import type { AccountId } from "@accountlink/core/records";
import type { Millis } from "@accountlink/core/timestamp";
import { erasedMark } from "@accountlink/core/users";
import { Clock, Effect } from "effect";
import { keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { accountAt, scopeAt } from "./scopes.ts";

export interface StoredRecord extends JournalRecord {
  readonly place: string;
  /** Increases with every record of a place. The position of an event is the sequence of its record. */
  readonly sequence: number;
}

export interface Place {
  readonly place: string;
  /** The sequence of the newest record. */
  readonly last: number;
  /** The position of the newest event that is not kept any more; 0 before there is one. */
  readonly start: number;
  /** The position of the newest event. */
  readonly end: number;
  /** The times of the oldest entry and of the oldest event; null without one. */
  readonly oldestEntry: Millis | null;
  readonly oldestEvent: Millis | null;
}

/** Changes with every record, so that sweeps need no index of the records. */
export const places = table<Place>()("place", ({ place }) => [place], {
  byEntry: { keys: ({ place, oldestEntry }) => (oldestEntry === null ? [] : [[oldestEntry, place]]) },
  byEvent: { keys: ({ place, oldestEvent }) => (oldestEvent === null ? [] : [[oldestEvent, place]]) },
});

/** The actions of most records, which no index by action has. */
const frequent: ReadonlySet<string> = new Set(["link.set", "link.removed", "link.moved"]);

export const isIndexed = (action: string): boolean => !frequent.has(action) && !action.startsWith("session.");

/** Every user that a record names, in any way. */
const namesIn = (record: StoredRecord): ReadonlyArray<string> => {
  const { actor } = record;
  const by = actor?.type === "account" ? [actor.member] : actor?.type === "user" ? [actor.id] : [];
  return [...new Set([...usersIn(record), ...by])];
};

export const journal = table<StoredRecord>()("journal", ({ place, sequence }) => [place, sequence], {
  byUser: {
    keys: (record) => namesIn(record).map((id) => [id, record.place, record.sequence]),
    group: 1,
  },
  /** The records whose actor is an account, by the name of the account. */
  byActor: {
    keys: ({ actor, place, sequence }) => (actor?.type === "account" ? [[actor.id, place, sequence]] : []),
    group: 1,
  },
  byAction: {
    keys: ({ actor, action, place, sequence }) =>
      actor !== null && isIndexed(action) ? [[place, action, sequence]] : [],
  },
  /** The events of erasures that name their user. */
  erasures: {
    keys: ({ action, at, event, place, sequence }) =>
      action === "user.erased" && event !== null && event.fields["chatId"] !== erasedMark
        ? [[at, place, sequence]]
        : [],
  },
});

export const accountPlace = (account: AccountId): string => `account ${account}`;

export const placeKey = (place: string): string => keyOf(places, [place]);

export const newPlace = (place: string): Place => ({
  place,
  last: 0,
  start: 0,
  end: 0,
  oldestEntry: null,
  oldestEvent: null,
});

export const placeAt = (tx: Transaction, place: string) =>
  Effect.map(tx.get(places, place), (found) => found ?? newPlace(place));

/** Returns the earlier of two times. The time so far is null before the first one. */
const earlier = (oldest: Millis | null, at: Millis): Millis => Math.min(oldest ?? Infinity, at);

/** Stores records of a place in order, and returns the sequence of the last. */
export const record = Effect.fnUntraced(function* (
  tx: Transaction,
  place: string,
  ...records: ReadonlyArray<JournalRecord>
) {
  const stored = yield* placeAt(tx, place);
  let { last, end, oldestEntry, oldestEvent } = stored;
  for (const added of records) {
    const { at, actor, event } = added;
    last = Math.max(last + 1, tx.timedNumber(yield* Clock.currentTimeMillis));
    tx.insert(journal, { ...added, place, sequence: last });
    if (actor !== null) oldestEntry = earlier(oldestEntry, at);
    if (event === null) continue;
    end = last;
    oldestEvent = earlier(oldestEvent, at);
  }
  if (records.length > 0) yield* tx.put(places, { ...stored, last, end, oldestEntry, oldestEvent });
  return last;
});

/** Adds a record, which has its sequence from another storage or release, to its place. */
export const notePlace = Effect.fnUntraced(function* (
  tx: Transaction,
  { place, sequence, at, actor, event }: StoredRecord,
) {
  const { last, end, oldestEntry, oldestEvent, ...stored } = yield* placeAt(tx, place);
  yield* tx.put(places, {
    ...stored,
    last: Math.max(last, sequence),
    end: event === null ? end : Math.max(end, sequence),
    oldestEntry: actor === null ? oldestEntry : earlier(oldestEntry, at),
    oldestEvent: event === null ? oldestEvent : earlier(oldestEvent, at),
  });
});

/** Stores a part of a change that several transactions make, see `ImportTx.journalPart`. */
export const recordPart = Effect.fnUntraced(function* (
  tx: Transaction,
  place: string,
  part: JournalRecord,
  first: number | null,
  isTold = true,
) {
  if (first === null) return isTold ? yield* record(tx, place, part) : null;
  if (isTold) yield* record(tx, place, withoutEntry(part));
  const stored = yield* tx.get(journal, place, first);
  if (stored !== undefined && stored.actor !== null)
    yield* tx.put(journal, { ...stored, details: part.details });
  return first;
});

/** Finds up to `limit` records that name a chat user or one of the accounts, by place and sequence. */
export const recordsNaming = Effect.fnUntraced(function* (
  tx: Transaction,
  chatId: ChatId,
  names: ReadonlyArray<string>,
  limit: number,
  after: Pick<StoredRecord, "place" | "sequence"> | null = null,
) {
  const options = { limit, ...(after !== null && { after: [after.place, after.sequence] }) };
  const found = [...(yield* tx.list(journal.byUser, [chatId], options))];
  for (const name of names) found.push(...(yield* tx.list(journal.byActor, [name], options)));
  const unique = new Map(found.map((stored) => [`${stored.place} ${stored.sequence}`, stored]));
  return [...unique.values()]
    .toSorted((one, other) =>
      one.place === other.place ? one.sequence - other.sequence : one.place < other.place ? -1 : 1,
    )
    .slice(0, limit);
});

/**
 * Finds up to `limit` records of a place that meet a condition, after a sequence, or before it from the newest on.
 *
 * @param pageSize how many records are read at once
 */
export const searchPlace = Effect.fnUntraced(function* (
  tx: Transaction,
  place: string,
  start: number,
  isMeant: (stored: StoredRecord) => boolean,
  { limit, reverse = false, pageSize = limit }: { limit: number; reverse?: boolean; pageSize?: number },
) {
  const found: Array<StoredRecord> = [];
  let next = start;
  for (;;) {
    const bounds = reverse ? { before: [next] } : { after: [next] };
    const page = yield* tx.scan(journal, [place], { ...bounds, limit: pageSize, reverse });
    found.push(...page.filter(isMeant));
    const last = page.at(-1);
    if (found.length >= limit || last === undefined || page.length < pageSize) return found.slice(0, limit);
    next = last.sequence;
  }
});

const accountPattern = /^account (\d+)$/;

export const pidOf = (place: string): Pid | null => (accountPattern.test(place) ? null : (place as Pid));

/** Returns the audit entries among records, with the names of their accounts. */
export const entriesOf = Effect.fnUntraced(function* (tx: Transaction, found: ReadonlyArray<StoredRecord>) {
  const entries = [];
  for (const stored of found) {
    const { place, sequence } = stored;
    const pid = pidOf(place);
    const id = pid === null ? Number(accountPattern.exec(place)?.[1]) : (yield* scopeAt(tx, pid)).account;
    const entry = entryOf(stored, { sequence, account: (yield* accountAt(tx, id)).name, pid });
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
});
