/** Reads and writes of stores that are written once, on an engine. */
import { heldAtOnce, Records, type TxBody } from "@accountlink/core/records";
import { Array as Arr, Effect, Option } from "effect";
import type { Database } from "./database.ts";
import { encode } from "./keys.ts";
import { isMeant, kvIndex, type Values } from "./record_tables.ts";
import { recordsOfStep, shown, tableFor, txOf } from "./records.ts";
import { isAtEnd, removeInSteps } from "./steps.ts";
import { keyedWrite } from "./stores/idempotency_store.ts";
import { type Held, holdRecords, liveNodes } from "./stores/leases.ts";
import { storeLayer } from "./stores/store_layer.ts";
import type { Index } from "./table.ts";
import type { Transaction } from "./transaction.ts";

const bodyOn =
  <A>(body: TxBody<A>) =>
  (tx: Transaction) =>
    body(txOf(tx));

/** @param own the operations that the engine has by itself, by store */
export const layer = (own: Readonly<Record<string, (db: Database) => object>>) =>
  storeLayer(Records, (db) => (store) => ({
    read: (_, body) => db.read(bodyOn(body)),
    // Writes of other queues that meet run again.
    write: (_, queue, body) => db.write([queue].flat()[0] ?? "", bodyOn(body)),
    keyedWrite: (_, keptOf, queue, body) =>
      keyedWrite(db, keptOf, queue, (tx, write) => body(txOf(tx), write)),
    removeBefore: (_, index, before) => {
      if (index === index.type.byKey) return removeInSteps(db, tableFor(index.type), [], { before });
      const entries = kvIndex(index);
      const end = encode(before);
      return removeInSteps(db, entries, [], { before }, (stored) =>
        entries.keys(stored).every((entry) => encode(entry) < end),
      );
    },
    inSteps: Effect.fnUntraced(function* (_, queue, find, change) {
      for (let total = 0; ; ) {
        const found = yield* db.read((tx) => find(txOf(tx), recordsOfStep(db)));
        if (found.length === 0) return total;
        const step = yield* db.write(queue, function* (tx) {
          return { changed: yield* change(txOf(tx), found), isFull: isAtEnd(tx) };
        });
        total += step.changed;
        if (found.length < recordsOfStep(db) && !step.isFull) return total;
      }
    }),
    hold: Effect.fnUntraced(function* (_, type, items, body) {
      if (type.held === null) return [];
      const { only } = type.held.index;
      const isNeeded = (stored: Held) => only === undefined || isMeant(only, stored as unknown as Values);
      const byHolder = kvIndex(type.held.index) as unknown as Index<Held>;
      const held = yield* holdRecords(db, type.name, byHolder, isNeeded, items);
      if (held === null) return items.known as ReadonlyArray<never>;
      const parts = yield* Effect.forEach(Arr.chunksOf(held, heldAtOnce), (part) =>
        db.read(
          bodyOn((tx) =>
            body(
              tx,
              part.map((stored) => shown(type, stored) as never),
            ),
          ),
        ),
      );
      return parts.flat();
    }),
    firstNode: (_, type, prefix, at) =>
      db.read(function* (tx) {
        const live = (yield* liveNodes(db, tx, type.name, at)).filter((id) => id.startsWith(prefix));
        return Option.fromUndefinedOr(live.toSorted()[0]);
      }),
    mostWritten: recordsOfStep(db),
    own: own[store]?.(db) ?? {},
  }));
