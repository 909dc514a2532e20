import type { StoreEffect } from "@accountlink/core/errors";
import { Effect } from "effect";
import type { Bounds, Tuple } from "./keys.ts";
import type { Index, Table } from "./table.ts";
import type { Database, Transaction } from "./transaction.ts";

/** The most records that one transaction of a sweep changes. */
export const stepSize = 25;

/** How many short lists a read asks for at once. On Redis, a round trip carries the commands of all. */
export const shortListsAtOnce = 50;

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
      const found = yield* db.read(find);
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

/**
 * Removes the records of a range in small transactions.
 *
 * @param isOver whether a record, which was read again, is still to be removed
 */
export const removeInSteps = <R>(
  db: Database,
  from: Table<R> | Index<R>,
  prefix: Tuple,
  bounds: Bounds = {},
  isOver: (stored: R) => boolean = () => true,
): StoreEffect<number> => {
  const records = "table" in from ? from.table : from;
  const options = { ...bounds, limit: stepSize };
  return inSteps(
    db,
    (tx) => ("table" in from ? tx.list(from, prefix, options) : tx.scan(from, prefix, options)),
    Effect.fnUntraced(function* (tx, found) {
      const id = records.id(found);
      const stored = yield* tx.get(records, ...id);
      if (stored === undefined || !isOver(stored)) return false;
      yield* tx.remove(records, ...id);
      return true;
    }),
  );
};

/** Changes up to `limit` records of an index. Returns whether more may be left. */
export const changeSome = Effect.fnUntraced(function* <R>(
  tx: Transaction,
  index: Index<R>,
  prefix: Tuple,
  limit: number,
  change: (record: R) => StoreEffect<unknown>,
) {
  const found = yield* tx.list(index, prefix, { limit });
  for (const record of found) yield* change(record);
  return found.length === limit;
});

/** Removes up to `limit` records of an index. Returns whether more may be left. */
export const removeSome = <R>(tx: Transaction, index: Index<R>, prefix: Tuple, limit: number) =>
  changeSome(tx, index, prefix, limit, (record) => tx.remove(index.table, ...index.table.id(record)));
