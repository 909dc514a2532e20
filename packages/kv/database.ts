/** Runs reads and transactions on an engine. */
import type { StoreEffect, StoreUnavailable } from "@accountlink/core/errors";
import { timedNumbers } from "@accountlink/core/journal";
import { Effect, Semaphore } from "effect";
import { lastOf, rangeOf, type Tuple } from "./keys.ts";
import { type Kv, maxChanges, type Range } from "./kv.ts";
import { mapInParts } from "./long_lists.ts";
import { isOvertaken, mostRuns, pauseAfter } from "./overtaken.ts";
import { parsed } from "./split_texts.ts";
import type { Index } from "./table.ts";
import { Transaction } from "./transaction.ts";

/** The body of a transaction. It may run several times. */
type Body<A, E> = (tx: Transaction) => StoreEffect<A, E> | Effect.fn.Return<A, E | StoreUnavailable>;

export class Database {
  readonly kv: Kv;
  readonly #timedNumber = timedNumbers();
  /** Writes of one name wait for each other in this process, because they would conflict. No two names share a queue. */
  readonly #queues = new Map<string, { readonly turn: Semaphore.Semaphore; writes: number }>();

  constructor(kv: Kv) {
    this.kv = kv;
  }

  /** The most changes of a commit. */
  get most(): number {
    return this.kv.maxChanges ?? maxChanges;
  }

  /** Reads records that are never split, without checks. */
  readonly peek = (keys: ReadonlyArray<string>): StoreEffect<ReadonlyArray<unknown>> =>
    Effect.flatMap(this.kv.get(keys), (entries) =>
      mapInParts(entries, (entry) => (entry === null ? undefined : parsed(entry, entry.value))),
    );

  /** Returns the first keys of a range, without checks. */
  readonly keysIn = (range: Range, limit: number): StoreEffect<ReadonlyArray<string>> =>
    this.kv.keys?.(range, limit) ??
    Effect.map(this.kv.list(range, { limit, reverse: false }), (entries) => entries.map(({ key }) => key));

  /** Returns the last parts of the keys of the first entries of an index, without checks. */
  readonly peekEntries = <R, Last extends string>(
    { name }: Index<R>,
    prefix: Tuple,
    limit: number,
  ): StoreEffect<ReadonlyArray<Last>> =>
    Effect.flatMap(this.keysIn(rangeOf(name, prefix), limit), (found) =>
      mapInParts(found, (key) => lastOf(key) as Last),
    );

  /** Reads without checks. */
  readonly read = <A, E = never>(body: Body<A, E>): StoreEffect<A, E> => this.#run(body, false);

  /**
   * Runs a transaction until nothing that it read has changed before its commit.
   *
   * @param queue the name of what the transaction changes: an ID, which has no space, or text with a space that no
   *   caller can choose
   */
  readonly write = <A, E = never>(queue: string, body: Body<A, E>): StoreEffect<A, E> =>
    Effect.suspend(() => {
      const found = this.#queues.get(queue) ?? { turn: Semaphore.makeUnsafe(1), writes: 0 };
      this.#queues.set(queue, found);
      found.writes++;
      const leave = Effect.sync(() => {
        if (--found.writes === 0) this.#queues.delete(queue);
      });
      return Effect.ensuring(found.turn.withPermit(this.#run(body, true)), leave);
    });

  #run<A, E>(body: Body<A, E>, isChecked: boolean, run = 1): StoreEffect<A, E> {
    const { kv } = this;
    const timedNumber = this.#timedNumber;
    const once: StoreEffect<A, E> = Effect.gen(function* () {
      const tx = new Transaction(kv, isChecked, run === 1, timedNumber);
      const result = yield* body(tx);
      yield* tx.commit;
      return result;
    });
    return Effect.catchIf(once, isOvertaken, (error) =>
      run === mostRuns
        ? Effect.fail(error)
        : Effect.andThen(pauseAfter(run), this.#run(body, isChecked, run + 1)),
    );
  }
}
