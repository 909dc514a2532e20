import type { StoreEffect } from "@accountlink/core/errors";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import { rangeOf } from "../keys.ts";
import { isFull, stepSize } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import type { EarlierTables } from "./earlier_tables.ts";

type RecordIn<Name extends string> = Name extends keyof EarlierTables ? EarlierTables[Name] : object;

/** Moves all records of a table of an earlier release in small transactions. `store` may drop them. */
export const moveEarlier = Effect.fnUntraced(function* <Name extends string>(
  db: Database,
  name: Name,
  store: (tx: Transaction, record: RecordIn<Name>) => StoreEffect<void>,
  limit = stepSize,
) {
  for (let isFirst = true; ; isFirst = false) {
    const keys = yield* db.keysIn(rangeOf(name, []), limit);
    if (keys.length === 0) return;
    // Before the records, so that a move that was cut off drops them when it goes on.
    if (isFirst) yield* dropEntries(db, name);
    yield* db.write("carry over", function* (tx) {
      for (const key of keys) {
        if (isFull(tx)) return;
        const record = yield* tx.take<RecordIn<Name>>(key);
        if (record !== undefined) yield* store(tx, record);
      }
    });
  }
});

/** Drops the entries of all indexes of a table, also of indexes that this release does not know. */
const dropEntries = Effect.fnUntraced(function* (db: Database, name: string) {
  for (;;) {
    const keys = yield* db.keysIn({ start: `${name}.`, end: `${name}/` }, Math.min(db.most, 500));
    if (keys.length === 0) return;
    yield* db.kv.commit(
      [],
      keys.map((key) => ({ key, value: null })),
    );
  }
});
