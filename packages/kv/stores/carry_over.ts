/**
 * Carries over what earlier releases stored: an audit log and a feed of events, with a record each for most changes. Their
 * events keep their positions.
 */
import type { Pid } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import type { FeedEvent } from "@accountlink/core/events";
import type { EventFields, JournalRecord } from "@accountlink/core/journal";
import { Effect } from "effect";
import { stepSize } from "../steps.ts";
import { type Table, table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import { accountPlace, earlier, journal, type Place, placeAt, places } from "./journal.ts";

interface EarlierEntry extends Omit<AuditEntry, "account"> {
  readonly account: number;
}

interface EarlierEvent {
  readonly pid: Pid;
  readonly event: Omit<FeedEvent, "entry">;
}

interface EarlierFeed {
  readonly pid: Pid;
  readonly start: number;
  readonly end: number;
}

const texts = (...values: ReadonlyArray<unknown>): ReadonlyArray<string> => [
  ...new Set(values.filter((value) => typeof value === "string")),
];

const keysOf = ({ actor, details }: EarlierEntry) =>
  texts(details["keyId"], actor.type === "key" ? actor.id : null);

const usersOf = ({ details }: EarlierEntry) =>
  texts(details["chatId"], details["newChatId"], details["otherChatId"]);

const earlierEntries = table<EarlierEntry>()("audit", ({ account, sequence }) => [account, sequence], {
  byTime: { keys: ({ at, account, sequence }) => [[at, account, sequence]] },
  byUser: {
    keys: (entry) => {
      const { actor, account, sequence } = entry;
      const by = actor.type === "account" ? actor.member : actor.type === "user" ? actor.id : null;
      return texts(...usersOf(entry), by).map((id) => [id, account, sequence]);
    },
    group: 1,
  },
  byActor: {
    keys: ({ actor, account, sequence }) => (actor.type === "account" ? [[actor.id, account, sequence]] : []),
    group: 1,
  },
  selected: {
    keys: (entry) => {
      const users = usersOf(entry);
      const by = users.length === 0 && entry.actor.type === "user" ? [entry.actor.id] : users;
      return [
        `action:${entry.action}`,
        ...by.map((id) => `user:${id}`),
        ...keysOf(entry).map((id) => `key:${id}`),
      ].map((about) => [entry.account, about, entry.sequence]);
    },
  },
});

const usersIn = ({ event: { data } }: EarlierEvent) => {
  const { chatId, previousChatId } = data as Readonly<Record<string, unknown>>;
  return texts(chatId, previousChatId);
};

const earlierEvents = table<EarlierEvent>()("event", ({ pid, event }) => [pid, event.position], {
  byTime: { keys: ({ pid, event }) => [[event.at, pid, event.position]] },
  byType: { keys: ({ pid, event }) => [[pid, event.type, event.position]] },
  byUser: {
    keys: (stored) =>
      stored.event.type === "user.erased"
        ? []
        : usersIn(stored).map((id) => [id, stored.pid, stored.event.position]),
    group: 1,
  },
  erasures: {
    keys: (stored) =>
      stored.event.type === "user.erased" && usersIn(stored).length > 0
        ? [[stored.event.at, stored.pid, stored.event.position]]
        : [],
  },
});

const earlierFeeds = table<EarlierFeed>()("feed", ({ pid }) => [pid], {});

const put = Effect.fnUntraced(function* (
  tx: Transaction,
  name: string,
  sequence: number,
  record: JournalRecord,
  change: (place: Place) => Partial<Place>,
) {
  yield* tx.put(journal, { ...record, place: name, sequence });
  const place = yield* placeAt(tx, name);
  yield* tx.put(places, { ...place, last: Math.max(place.last, sequence), ...change(place) });
});

/** Moves all records of a table in small transactions. */
const move = Effect.fnUntraced(function* <R>(
  db: Database,
  from: Table<R>,
  store: (tx: Transaction, record: R) => Effect.Effect<void, Effect.Error<ReturnType<typeof put>>>,
) {
  for (;;) {
    const found = yield* db.read((tx) => tx.scan(from, [], { limit: stepSize }));
    if (found.length === 0) return;
    yield* db.write("carry over", function* (tx) {
      for (const record of found) {
        const removed = yield* tx.remove(from, ...from.id(record));
        if (removed !== undefined) yield* store(tx, removed);
      }
    });
  }
});

/** Does nothing if there is nothing of an earlier release. */
export const carryOver = Effect.fnUntraced(function* (db: Database) {
  yield* move(db, earlierEvents, (tx, { pid, event }) => {
    const { id, type, at, data, position } = event;
    const told = { id, fields: data as unknown as EventFields };
    const record = { at, action: type, actor: null, requestId: null, details: {}, event: told };
    return put(tx, pid, position, record, ({ end, oldestEvent }) => ({
      end: Math.max(end, position),
      oldestEvent: earlier(oldestEvent, at),
    }));
  });
  yield* move(db, earlierEntries, (tx, { sequence, at, actor, requestId, account, pid, action, details }) =>
    put(
      tx,
      pid ?? accountPlace(account),
      sequence,
      { at, action, actor, requestId, details, event: null },
      ({ oldestEntry }) => ({ oldestEntry: earlier(oldestEntry, at) }),
    ),
  );
  yield* move(db, earlierFeeds, (tx, { pid, start, end }) =>
    Effect.flatMap(placeAt(tx, pid), (place) =>
      tx.put(places, {
        ...place,
        last: Math.max(place.last, end),
        start: Math.max(place.start, start),
        end: Math.max(place.end, end),
      }),
    ),
  );
});
