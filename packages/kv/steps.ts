import type { StoreEffect } from "@accountlink/core/errors";
import { Effect } from "effect";
import type { Database, Transaction } from "./transaction.ts";

/** The most records that one transaction of a sweep changes. */
export const stepSize = 25;

/** Whether a transaction is so large that it changes no further record, since a record may have many others. */
export const isFull = (tx: Transaction): boolean => tx.exceeds(60, 600);

/**
 * Changes many records in small transactions, and returns the number of changes.
 *
 * @param find finds up to `stepSize` records, without checks
 * @param change reads a record again and changes it; returns false if it needs no change any more
 */
export const inSteps = <R>(
  db: Database,
  find: (tx: Transaction) => StoreEffect<ReadonlyArray<R>>,
  change: (tx: Transaction, record: R) => StoreEffect<boolean>,
): StoreEffect<number> =>
  Effect.gen(function* () {
    let total = 0;
    for (;;) {
      const found = yield* db.read(function* (tx) {
        return yield* find(tx);
      });
      const { changed, isWhole } = yield* db.write("all steps", function* (tx) {
        let count = 0;
        for (const record of found) {
          if (yield* change(tx, record)) count++;
          if (isFull(tx)) return { changed: count, isWhole: false };
        }
        return { changed: count, isWhole: true };
      });
      total += changed;
      if (changed === 0 || (isWhole && found.length < stepSize)) return total;
    }
  });
