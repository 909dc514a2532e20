import { EventStore, type Pid } from "@accountlink/core";
import { eventOf } from "@accountlink/core/journal";
import type { Tx } from "@accountlink/core/records";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { inSteps, stepSize } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { journal, placeAt, places, searchPlace } from "./journal.ts";
import { storeLayer } from "./store_layer.ts";
import { sweepPlaces } from "./sweep_places.ts";

/** Reads up to `limit` events after a position, or before it from the newest on. */
const readEvents = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  position: number,
  limit: number,
  reverse = false,
) {
  const found = yield* searchPlace(tx, pid, position, ({ event }) => event !== null, { limit, reverse });
  return found.flatMap((stored) => eventOf(stored, stored.sequence) ?? []);
});

/** So few that the process answers others between two reads. */
const eventsAtOnce = 100;

export const countEvents = Effect.fnUntraced(function* (
  tx: Transaction,
  ...[searches, { most, searched }]: Parameters<Tx["countEvents"]>
) {
  const found = yield* tx.getAll(places, searches, ({ pid }) => [pid]);
  return yield* Effect.forEach(
    searches,
    Effect.fnUntraced(function* ({ pid, after, types }, index) {
      const { start, end } = found[index] ?? { start: 0, end: 0 };
      let last = Math.max(after, start);
      let count = 0;
      for (let read = 0; last < end && count < most && read < searched; read += eventsAtOnce) {
        const page = yield* readEvents(tx, pid, last, eventsAtOnce);
        count += page.filter(({ type }) => types.length === 0 || types.includes(type)).length;
        if (page.length < eventsAtOnce) break;
        last = page.at(-1)?.position ?? last;
      }
      return Math.min(count, most);
    }),
  );
});

export const layer = storeLayer(EventStore, (db) => ({
  range: (pid) =>
    db.read(function* (tx) {
      const { start, end } = yield* placeAt(tx, pid);
      return { start, end };
    }),

  read: (pid, after, limit) =>
    db.read(function* (tx) {
      const found = yield* readEvents(tx, pid, after, limit);
      // Read last, so that a sweep in between is noticed.
      const { start, end } = yield* placeAt(tx, pid);
      return after < start || after > end ? Option.none() : Option.some(found);
    }),

  readBack: (pid, before, limit) =>
    db.read(function* (tx) {
      const { start } = yield* placeAt(tx, pid);
      const found = yield* readEvents(tx, pid, before ?? Number.MAX_SAFE_INTEGER, limit, true);
      return found.filter(({ position }) => position > start);
    }),

  newer: (after) =>
    db.read(function* (tx) {
      const found = yield* tx.getAll(places, after, ({ pid }) => [pid]);
      return after.flatMap((seen, index) => ((found[index]?.end ?? 0) > seen.after ? [seen.pid] : []));
    }),

  sweep: ({ before, erasuresBefore }) =>
    Effect.gen(function* () {
      const swept = yield* sweepPlaces(db, before, {
        index: places.byEvent,
        oldest: "oldestEvent",
        isMeant: ({ event, sequence }, { start }) => event !== null && sequence > start,
        sweep: Effect.fnUntraced(function* (tx, { start }, old) {
          for (const { place, sequence, actor } of old)
            if (actor === null) yield* tx.remove(journal, place, sequence);
          return { start: Math.max(start, ...old.map(({ sequence }) => sequence)) };
        }),
      });
      yield* inSteps(
        db,
        (tx) => tx.list(journal.erasures, [], { before: [erasuresBefore], limit: stepSize }),
        Effect.fnUntraced(function* (tx, { place, sequence }) {
          const found = yield* tx.get(journal, place, sequence);
          if (found === undefined || found.event === null) return false;
          const event = { ...found.event, fields: { chatId: erasedMark } };
          yield* tx.put(journal, { ...found, event });
          return true;
        }),
      );
      const [first] = yield* db.read((tx) => tx.list(places.byEvent, [], { limit: 1 }));
      return { forgotten: swept, oldestAt: first?.oldestEvent ?? null };
    }),
}));
