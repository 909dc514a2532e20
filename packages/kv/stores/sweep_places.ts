/** Sweeps of the journal by age: a place knows the time of its oldest entry and of its oldest event. */
import type { StoreEffect } from "@accountlink/core/errors";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import { itemsOf, stepSize } from "../steps.ts";
import type { Index } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { journal, type Place, placeAt, places, type StoredRecord, searchPlace } from "./journal.ts";

interface Sweep {
  /** The places by the time in their field `oldest`. */
  readonly index: Index<Place>;
  readonly oldest: "oldestEntry" | "oldestEvent";
  /** Whether the sweep is about a record. */
  readonly isMeant: (stored: StoredRecord, place: Place) => boolean;
  /** Sweeps old records of a place, and returns what changes in the place. */
  readonly sweep: (
    tx: Transaction,
    place: Place,
    old: ReadonlyArray<StoredRecord>,
  ) => StoreEffect<Partial<Place>>;
}

/** Sweeps the records from before a time in small transactions, and returns their number. */
export const sweepPlaces = Effect.fnUntraced(function* (db: Database, before: Millis, sweep: Sweep) {
  let total = 0;
  for (;;) {
    const due = yield* db.read((tx) => tx.list(sweep.index, [], { before: [before], limit: stepSize }));
    if (due.length === 0) return total;
    for (const place of due) total += yield* sweepSome(db, place, before, sweep);
  }
});

const sweepSome = Effect.fnUntraced(function* (
  db: Database,
  seen: Place,
  before: Millis,
  { oldest, isMeant, sweep }: Sweep,
) {
  // A record that names three users has 12 keys.
  const size = itemsOf(db, 12, { beside: 5 });
  const first = yield* db.read((tx) =>
    searchPlace(tx, seen.place, 0, (stored) => isMeant(stored, seen), { limit: size, pageSize: 200 }),
  );
  return yield* db.write(seen.place, function* (tx) {
    const place = yield* placeAt(tx, seen.place);
    const old: Array<StoredRecord> = [];
    let next: Millis | null = null;
    for (const { sequence } of first) {
      const stored = yield* tx.get(journal, place.place, sequence);
      if (stored === undefined || !isMeant(stored, place)) continue;
      if (stored.at < before) old.push(stored);
      else next = Math.min(next ?? Infinity, stored.at);
    }
    const changed = yield* sweep(tx, place, old);
    // Behind a full page of old records there may be more, and others may have been added since it was read.
    const isMore = first.length === size || place.last !== seen.last;
    yield* tx.put(places, { ...place, ...changed, [oldest]: next ?? (isMore ? place[oldest] : null) });
    return old.length;
  });
});
