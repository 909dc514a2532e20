import { EventStore, type Pid } from "@accountlink/core";
import type { FeedEvent, Happening, NewEvent } from "@accountlink/core/events";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { inSteps, stepSize } from "../steps.ts";
import { keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { storeLayer } from "./store_layer.ts";

interface Feed {
  readonly pid: Pid;
  /** The position of the newest deleted event; 0 before the first deletion. */
  readonly start: number;
  readonly end: number;
}

export interface StoredEvent {
  readonly pid: Pid;
  readonly event: FeedEvent;
}

const feeds = table<Feed>()("feed", ({ pid }) => [pid], {});

/** The users that an event names. */
const usersOf = ({ data }: Happening): ReadonlyArray<string> => {
  const { chatId, previousChatId } = data as Readonly<Record<string, unknown>>;
  return [...new Set([chatId, previousChatId])].filter(
    (id) => typeof id === "string" && id !== erasedMark,
  ) as ReadonlyArray<string>;
};

export const events = table<StoredEvent>()("event", ({ pid, event }) => [pid, event.position], {
  byTime: { keys: ({ pid, event }) => [[event.at, pid, event.position]] },
  byType: { keys: ({ pid, event }) => [[pid, event.type, event.position]] },
  byUser: {
    keys: ({ pid, event }) =>
      event.type === "user.erased" ? [] : usersOf(event).map((id) => [id, pid, event.position]),
    group: 1,
  },
  /** The events of erasures that name their user. */
  erasures: {
    keys: ({ pid, event }) =>
      event.type === "user.erased" && usersOf(event).length > 0 ? [[event.at, pid, event.position]] : [],
  },
});

const feedOf = Effect.fnUntraced(function* (tx: Transaction, pid: Pid) {
  return (yield* tx.get(feeds, pid)) ?? { pid, start: 0, end: 0 };
});

export const feedKey = (pid: Pid): string => keyOf(feeds, [pid]);

export const append = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  ...added: ReadonlyArray<NewEvent>
) {
  if (added.length === 0) return;
  const feed = yield* feedOf(tx, pid);
  let position = feed.end;
  for (const event of added) tx.insert(events, { pid, event: { ...event, position: ++position } });
  yield* tx.put(feeds, { ...feed, end: position });
});

export const layer = storeLayer(EventStore, (db) => ({
  range: (pid) =>
    db.read(function* (tx) {
      const { start, end } = yield* feedOf(tx, pid);
      return { start, end };
    }),

  read: (pid, after, limit) =>
    db.read(function* (tx) {
      const found = yield* tx.scan(events, [pid], { after: [after], limit });
      // Read last, so that a sweep in between is noticed.
      const { start, end } = yield* feedOf(tx, pid);
      return after < start || after > end ? Option.none() : Option.some(found.map(({ event }) => event));
    }),

  readBack: (pid, before, limit) =>
    db.read(function* (tx) {
      const options = { ...(before !== null && { before: [before] }), limit, reverse: true };
      return (yield* tx.scan(events, [pid], options)).map(({ event }) => event);
    }),

  newer: (places) =>
    db.read(function* (tx) {
      const found = yield* tx.getAll(
        feeds,
        places.map(({ pid }) => [pid]),
      );
      return places.flatMap(({ pid, after }, index) => ((found[index]?.end ?? 0) > after ? [pid] : []));
    }),

  oldestAt: () =>
    db.read(function* (tx) {
      return (yield* tx.list(events.byTime, [], { limit: 1 }))[0]?.event.at ?? null;
    }),

  sweep: ({ before, erasuresBefore }) =>
    Effect.gen(function* () {
      const swept = yield* inSteps(
        db,
        (tx) => tx.list(events.byTime, [], { before: [before], limit: stepSize }),
        Effect.fnUntraced(function* (tx, { pid, event: { position } }) {
          if ((yield* tx.remove(events, pid, position)) === undefined) return false;
          const feed = yield* feedOf(tx, pid);
          yield* tx.put(feeds, { ...feed, start: Math.max(feed.start, position) });
          return true;
        }),
      );
      yield* inSteps(
        db,
        (tx) => tx.list(events.erasures, [], { before: [erasuresBefore], limit: stepSize }),
        Effect.fnUntraced(function* (tx, { pid, event: { position } }) {
          const found = yield* tx.get(events, pid, position);
          if (found === undefined) return false;
          const event = { ...found.event, data: { chatId: erasedMark } } as FeedEvent;
          yield* tx.put(events, { pid, event });
          return true;
        }),
      );
      return swept;
    }),
}));
