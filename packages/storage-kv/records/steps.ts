/** Work on any number of records, in transactions of a bounded size. */
import type { StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import type { Collection } from "./collection.ts";
import type { Database } from "./database.ts";
import type { KeyPart, KeyParts } from "./key.ts";
import type { Transaction } from "./transaction.ts";

/** How many records a step takes. */
export const stepSize = 100;

type Step<A> = (tx: Transaction) => Effect.Effect<ReadonlyArray<A>, StoreUnavailable>;

/** Repeats a step until it takes fewer records than it could, and returns all that it took. */
export const inSteps = Effect.fnUntraced(function* <A>(db: Database["Service"], name: string, step: Step<A>) {
  const taken: Array<A> = [];
  while (true) {
    const some = yield* db.write(name, step);
    taken.push(...some);
    if (some.length < stepSize) return taken;
  }
});

/**
 * Deletes the records that are over, from the first of an index to the first that is not, and returns their number.
 *
 * @param by the index, and the parts with which its keys begin
 */
export const forget = <V, Id extends Array<KeyPart>, Index extends string>(
  db: Database["Service"],
  name: string,
  from: Collection<V, Id, Index>,
  [index, ...parts]: readonly [Index, ...KeyParts],
  isOver: (value: V) => boolean,
  remove: (tx: Transaction, value: V) => Effect.Effect<void, StoreUnavailable> = from.discard,
): Effect.Effect<number, StoreUnavailable> =>
  Effect.map(
    inSteps(db, name, (tx) =>
      Effect.gen(function* () {
        const first = yield* from.list(tx, index, parts, { limit: stepSize });
        const over = first.filter(isOver);
        for (const value of over) yield* remove(tx, value);
        return over;
      }),
    ),
    (over) => over.length,
  );
