import type { StoreEffect } from "@accountlink/core/errors";
import { Effect } from "effect";
import type { Database } from "./database.ts";
import type { Bounds, Tuple } from "./keys.ts";
import type { Index, Table } from "./table.ts";
import type { Transaction } from "./transaction.ts";

/** The most records that one transaction of a sweep changes. */
export const stepSize = 25;

/** The most changes of a step, so that a commit does not keep others waiting. */
const changesOfStep = 300;

/** The most changes and checks of an item of a step: a link that is removed, its event, and two sessions that end. */
const [keysOfItem, checksOfItem] = [50, 40];

/** How many short lists a read asks for at once. On Redis, a round trip carries the commands of all. */
export const shortListsAtOnce = 50;

/**
 * Whether a step ends before its next item, for which it may lack room.
 *
 * @param beside how many changes the step makes after its last item
 */
export const isFull = (tx: Transaction, beside = 0): boolean =>
  !tx.hasRoom(checksOfItem, keysOfItem + beside, changesOfStep);

/** The most changes after the last step of a close or an end of an account: an entry, the account's name and its owner. */
const keysOfEnd = 25;

/** Whether a step of the end of an account takes no further record. */
export const isAtEnd = (tx: Transaction): boolean => isFull(tx, keysOfEnd);

/** How many items of up to `keys` changes a commit takes beside other changes: 1 to `limit`. */
export const itemsOf = (
  { most }: Pick<Transaction, "most">,
  keys: number,
  { beside = 0, limit = stepSize } = {},
): number => Math.max(1, Math.min(limit, Math.floor((most - beside) / keys)));

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
          if (isFull(tx)) return { changed: count, isWhole: false };
          if (yield* change(tx, record)) count++;
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

/** Changes records until the step ends. Returns whether some are left. */
export const changeFirst = Effect.fnUntraced(function* <R>(
  tx: Transaction,
  found: ReadonlyArray<R>,
  change: (record: R) => StoreEffect<unknown>,
  isOver: (tx: Transaction) => boolean = isFull,
) {
  for (const record of found) {
    if (isOver(tx)) return true;
    yield* change(record);
  }
  return false;
});

/** Changes records of an index until the step ends. Returns whether more may be left. */
export const changeSome = Effect.fnUntraced(function* <R>(
  tx: Transaction,
  index: Index<R>,
  prefix: Tuple,
  change: (record: R) => StoreEffect<unknown>,
  isOver?: (tx: Transaction) => boolean,
) {
  const found = yield* tx.list(index, prefix, { limit: stepSize });
  return (yield* changeFirst(tx, found, change, isOver)) || found.length === stepSize;
});

/** Removes records of an index until the step ends. Returns whether more may be left. */
export const removeSome = <R>(
  tx: Transaction,
  index: Index<R>,
  prefix: Tuple,
  isOver?: (tx: Transaction) => boolean,
) => changeSome(tx, index, prefix, (record) => tx.remove(index.table, ...index.table.id(record)), isOver);
