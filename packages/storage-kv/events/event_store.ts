/** `EventStore` on a key-value store. Commits are serialized, so positions are numbers of the head. */
import { EventStore, type Pid } from "@accountlink/core";
import type { FeedEvent, FeedPlace, SweepEvents } from "@accountlink/core/events";
import { erasedMark } from "@accountlink/core/users";
import { Effect, Layer, Option } from "effect";
import { Database } from "../records/database.ts";
import { events, feedStarts } from "../records/schema.ts";
import { forget, inSteps, stepSize } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<EventStore, never, Database> = Layer.effect(
  EventStore,
  Effect.map(Database, (db) =>
    EventStore.of({
      range: (pid) =>
        db.read("EventStore.range", (tx) =>
          Effect.map(startOf(tx, pid), (start) => ({ start, end: tx.lastSequence })),
        ),
      read: (pid, after, limit) => db.read("EventStore.read", (tx) => read(tx, pid, after, limit)),
      readBack: (pid, before, limit) =>
        db.read("EventStore.readBack", (tx) => readBack(tx, pid, before, limit)),
      newer: (places) => db.read("EventStore.newer", (tx) => newer(tx, places)),
      oldestAt: () =>
        db.read("EventStore.oldestAt", (tx) =>
          Effect.map(events.list(tx, "time", [], { limit: 1 }), ([oldest]) => oldest?.event.at ?? null),
        ),
      sweep: (times) => sweep(db, times),
    }),
  ),
);

const startOf = (tx: Transaction, pid: Pid) =>
  Effect.map(feedStarts.find(tx, pid), (found) => found?.position ?? 0);

const read = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, after: number, limit: number) {
  if (after < (yield* startOf(tx, pid)) || after > tx.lastSequence) {
    return Option.none<ReadonlyArray<FeedEvent>>();
  }
  const found = yield* events.scan(tx, [pid], { after: [pid, after], limit });
  return Option.some(found.map(({ event }) => event));
});

/** Entries are listed forwards only, so it reads growing parts of the end. */
const readBack = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  before: number | null,
  limit: number,
) {
  const end = Math.min(before ?? Number.MAX_SAFE_INTEGER, tx.lastSequence + 1);
  for (let length = 2 * limit; ; length *= 4) {
    const after = Math.max(0, end - 1 - length);
    const found = yield* events.scan(tx, [pid], { after: [pid, after], limit: end - 1 - after });
    const earlier = found.map(({ event }) => event).filter(({ position }) => position < end);
    if (earlier.length >= limit || after === 0) return earlier.slice(-limit).toReversed();
  }
});

const newer = Effect.fnUntraced(function* (tx: Transaction, places: ReadonlyArray<FeedPlace>) {
  const pids: Array<Pid> = [];
  for (const { pid, after } of places) {
    if (after >= tx.lastSequence) continue;
    const [next] = yield* events.scan(tx, [pid], { after: [pid, after], limit: 1 });
    if (next !== undefined) pids.push(pid);
  }
  return pids;
});

const sweep = Effect.fnUntraced(function* (db: Database["Service"], { before, erasuresBefore }: SweepEvents) {
  const name = "EventStore.sweep";
  const forgotten = yield* forget(
    db,
    name,
    events,
    ["time"],
    ({ event }) => event.at < before,
    Effect.fnUntraced(function* (tx, old) {
      const { pid, event } = old;
      const position = Math.max(yield* startOf(tx, pid), event.position);
      yield* feedStarts.put(tx, { pid, position });
      yield* events.discard(tx, old);
    }),
  );
  yield* inSteps(db, name, (tx) => eraseSome(tx, erasuresBefore));
  return forgotten;
});

const eraseSome = Effect.fnUntraced(function* (tx: Transaction, before: number) {
  const first = yield* events.list(tx, "erasure", [], { limit: stepSize });
  const old = first.filter(({ event }) => event.at < before);
  for (const { pid, event } of old) {
    const { id, at, position } = event;
    const erased = { id, at, position, type: "user.erased", data: { chatId: erasedMark } } as const;
    yield* events.put(tx, { pid, event: erased });
  }
  return old;
});
