/**
 * The one connection of node:sqlite, and who may use it when.
 *
 * Statements are synchronous, so fibers can only meet between two of them. Three rules follow:
 *
 * - A transaction holds the turn from before its BEGIN until after its COMMIT or ROLLBACK.
 * - A statement outside of transactions runs at once while none is open, which costs a look at the connection and no
 *   semaphore. Otherwise it waits until that transaction ended, and goes before the next one.
 * - A lock of another process is waited for by the fiber. SQLite's own wait would hold up every request.
 */
import type { DatabaseSync } from "node:sqlite";
import { Effect, Latch, type Scope, Semaphore } from "effect";
import { SqlError } from "effect/sql";
import { untilUnlocked } from "./sqlite_busy.ts";
import { failWith } from "./sqlite_error.ts";

/** Runs one synchronous piece of work on the database when its turn has come. */
export type Run = <A>(statement: () => A) => Effect.Effect<A, SqlError.SqlError>;

/** Who may use the connection when. */
export class Access {
  readonly #db: DatabaseSync;
  readonly #busyTimeout: number;
  readonly #turn = Semaphore.makeUnsafe(1);
  /** Released, never opened, whenever a transaction ended. */
  readonly #ended = Latch.makeUnsafe();

  readonly #written: () => void;

  /** @param written called after everything that may have written */
  constructor(db: DatabaseSync, busyTimeout: number, written: () => void) {
    this.#db = db;
    this.#busyTimeout = busyTimeout;
    this.#written = written;
  }

  /** Outside of transactions. */
  readonly shared: Run = (statement) =>
    untilUnlocked(this.#busyTimeout, () => {
      if (this.#db.isTransaction) return Effect.andThen(this.#ended.await, this.shared(statement));
      const result = statement();
      this.#written();
      if (this.#db.isTransaction) {
        leaveTransaction(this.#db);
        throw new TypeError(
          "Cannot run BEGIN as a statement: nothing would end it, expected withTransaction",
        );
      }
      return Effect.succeed(result);
    });

  /** The connection to one's own until the scope closes, with no transaction open before or after. */
  readonly lease: Effect.Effect<Run, never, Scope.Scope> = Effect.uninterruptibleMask((restore) =>
    Effect.andThen(
      restore(this.#turn.takeScoped(1)),
      Effect.acquireRelease(
        Effect.sync(() => this.#makeLease()),
        (lease) => {
          lease.end();
          this.#written();
          // Before the turn passes on, so that statements that waited are not kept waiting by the next transaction.
          return this.#ended.release;
        },
      ),
    ).pipe(Effect.map((lease) => lease.run)),
  );

  #makeLease(): { readonly run: Run; readonly end: () => void } {
    const db = this.#db;
    let state: "open" | "undone" | "ended" = "open";
    const run: Run = (statement) =>
      Effect.suspend(() => {
        if (state === "ended")
          return Effect.die(new Error("Cannot run a statement: its transaction has ended"));
        if (state === "undone") return Effect.fail(undone());
        if (!inTransaction(db)) return untilUnlocked(this.#busyTimeout, () => Effect.succeed(statement()));
        try {
          return Effect.succeed(statement());
        } catch (cause) {
          // A full disk, among others, makes SQLite roll back. What came next would be written on its own.
          if (!inTransaction(db)) state = "undone";
          return failWith(cause);
        }
      });
    const end = () => {
      state = "ended";
      // SQLite leaves the transaction open when its COMMIT fails, as on a deferred foreign key.
      leaveTransaction(db);
    };
    return { run, end };
  }
}

function undone(): SqlError.SqlError {
  const message = "Cannot go on with the transaction: a failed statement made the database roll it back";
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: undefined, message }) });
}

/** Whether a transaction is open on the connection. */
export function inTransaction(db: DatabaseSync): boolean {
  return db.isOpen && db.isTransaction;
}

/** Rolls back what is open. A connection that cannot do that is closed, which undoes it as well. */
function leaveTransaction(db: DatabaseSync): void {
  if (!inTransaction(db)) return;
  try {
    db.exec("ROLLBACK");
  } catch {
    db.close();
  }
}
