/** Runs operations as transactions on a key-value store. */
import { StoreUnavailable } from "@accountlink/core";
import { traced } from "@accountlink/core/telemetry";
import { Context, Effect, Semaphore } from "effect";
import type { KeyValueStore } from "../key_value_store.ts";
import { Transaction } from "./transaction.ts";

type Operation<A, E, R> = (tx: Transaction) => Effect.Effect<A, E, R>;

/** Runs one operation. Inside of another operation on the same store it becomes a part of that. */
type Run = <A, E, R>(
  name: string,
  operation: Operation<A, E, R>,
) => Effect.Effect<A, E | StoreUnavailable, R>;

export class Database extends Context.Service<
  Database,
  {
    /** For one record, or records that never change: without the two reads of a consistent one. */
    readonly find: Run;

    /** Everything that it reads is of one moment. */
    readonly read: Run;

    /** All of its writes happen together, at the moment of which its reads are. */
    readonly write: Run;
  }
>()("@accountlink/storage-kv/Database") {}

const Current = Context.Reference<Transaction | null>("@accountlink/storage-kv/Transaction", {
  defaultValue: () => null,
});

/** A read that keeps losing to writes of this process waits for them. */
const freeAttempts = 3;

const allAttempts = 100;

export const makeDatabase = (store: KeyValueStore): Database["Service"] => {
  const writing = Semaphore.makeUnsafe(1);

  const joined =
    (run: Run): Run =>
    (name, operation) =>
      Effect.flatMap(Current, (outer) =>
        outer?.store === store ? operation(outer) : traced(name)(run(name, operation)),
      );

  const attempt: Run = Effect.fnUntraced(function* (name, operation) {
    for (let attempts = 0; attempts < allAttempts; attempts++) {
      const tx = new Transaction(store, name);
      yield* tx.begin;
      const answer = yield* Effect.provideService(operation(tx), Current, tx);
      if (yield* tx.end) return answer;
    }
    const cause = new Error(`Cannot commit: other processes were first ${allAttempts} times`);
    return yield* new StoreUnavailable({ operation: name, cause });
  });

  const readOnce = Effect.fnUntraced(function* <A, E, R>(name: string, operation: Operation<A, E, R>) {
    const tx = new Transaction(store, name);
    yield* tx.begin;
    const answer = yield* operation(tx);
    return { answer, isConsistent: yield* tx.end };
  });

  const read: Run = Effect.fnUntraced(function* (name, operation) {
    for (let attempts = 0; attempts < freeAttempts; attempts++) {
      const { answer, isConsistent } = yield* readOnce(name, operation);
      if (isConsistent) return answer;
    }
    return yield* writing.withPermits(1)(attempt(name, operation));
  });

  return {
    find: joined((name, operation) => Effect.suspend(() => operation(new Transaction(store, name)))),
    read: joined(read),
    write: joined((name, operation) => writing.withPermits(1)(attempt(name, operation))),
  };
};
