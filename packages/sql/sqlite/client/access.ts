/**
 * Shares the node:sqlite connection that writes between fibers. Statements are synchronous, so fibers interleave only
 * between statements.
 */
import type { DatabaseSync } from "node:sqlite";
import { Effect, type Scope, Semaphore } from "effect";
import { SqlError } from "effect/sql";
import { type Run, retryWhileLocked } from "./connection.ts";
import { failWith, isBusy, isDiskFull } from "./sql_error.ts";

export interface AccessOptions {
  /** How long to wait for locks of other processes, in milliseconds. */
  readonly busyTimeout: number;
  /** Called after every statement or transaction that may have written. */
  readonly onWrite: () => void;
  /** Called after every statement that failed because the disk is full. */
  readonly onDiskFull: () => void;
}

/**
 * - `lease` holds a semaphore from before the BEGIN of a transaction until after its COMMIT or ROLLBACK.
 * - `shared` runs without the semaphore: at once if no transaction is open, otherwise when the open transaction has
 *   ended, before the next one begins.
 * - `leaseBulk` holds the semaphore for a transaction of another connection. Meanwhile, `shared` reads at once.
 */
export class Access {
  readonly #db: DatabaseSync;
  readonly #busyTimeout: number;
  readonly #turn = Semaphore.makeUnsafe(1);
  /** Resumes the statements that wait for the end of the open transaction. */
  readonly #waiting = new Set<() => void>();
  /** Whether another connection is leased. */
  #isBulk = false;
  readonly #onWrite: () => void;
  readonly #onDiskFull: () => void;

  constructor(db: DatabaseSync, { busyTimeout, onWrite, onDiskFull }: AccessOptions) {
    this.#db = db;
    this.#busyTimeout = busyTimeout;
    this.#onWrite = onWrite;
    this.#onDiskFull = onDiskFull;
  }

  readonly shared: Run = (statement) =>
    retryWhileLocked(this.#busyTimeout, () => {
      if (this.#db.isTransaction) return this.#runLater(statement);
      try {
        const result = this.#noticing(statement);
        this.#onWrite();
        return Effect.succeed(result);
      } catch (cause) {
        if (this.#isBulk && isBusy(cause)) return this.#runLater(statement);
        throw cause;
      }
    });

  #runLater<A>(statement: () => A): Effect.Effect<A, SqlError.SqlError> {
    return Effect.andThen(this.#ended, this.shared(statement));
  }

  /**
   * Waits until no transaction is open. Checks and waits in one operation: between two, the fiber may lose its turn,
   * and miss the end.
   */
  readonly #ended = Effect.callback<void>((resume) => {
    const wake = () => resume(Effect.void);
    if (!inTransaction(this.#db) && !this.#isBulk) return wake();
    this.#waiting.add(wake);
    return Effect.sync(() => this.#waiting.delete(wake));
  });

  /** Leases the connection until the scope closes, then rolls back a transaction that is still open. */
  readonly lease: Effect.Effect<Run, never, Scope.Scope> = Effect.suspend(() => {
    const { run, end } = this.#makeLease();
    return Effect.as(this.#takeTurn(end), run);
  });

  /** Leases another connection to the file until the scope closes. */
  leaseBulk<A, E>(other: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E, Scope.Scope> {
    const begin = Effect.sync(() => {
      this.#isBulk = true;
    });
    const end = () => {
      this.#isBulk = false;
    };
    return this.#takeTurn(end).pipe(Effect.andThen(begin), Effect.andThen(other));
  }

  /** Holds the semaphore until the scope closes, and then calls `end`. */
  #takeTurn(end: () => void): Effect.Effect<void, never, Scope.Scope> {
    const release = Effect.sync(() => {
      end();
      this.#onWrite();
      // Wake the waiting statements before the semaphore is released, so that they run before the next transaction.
      for (const wake of this.#waiting) wake();
      this.#waiting.clear();
    });
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(
        restore(this.#turn.takeScoped(1)),
        Effect.addFinalizer(() => release),
      ),
    );
  }

  #noticing<A>(statement: () => A): A {
    try {
      return statement();
    } catch (cause) {
      if (isDiskFull(cause)) this.#onDiskFull();
      throw cause;
    }
  }

  #makeLease(): { readonly run: Run; readonly end: () => void } {
    const db = this.#db;
    let state: "open" | "rolledBack" | "ended" = "open";
    const run: Run = (statement) =>
      Effect.suspend(() => {
        if (state === "ended")
          return Effect.die(new Error("Cannot run a statement: its transaction has ended"));
        if (state === "rolledBack") return Effect.fail(rolledBack());
        if (!inTransaction(db)) {
          return retryWhileLocked(this.#busyTimeout, () => Effect.succeed(this.#noticing(statement)));
        }
        try {
          return Effect.succeed(this.#noticing(statement));
        } catch (cause) {
          // SQLite may roll the transaction back by itself, for example on a full disk. Remember this, because each
          // later statement of the transaction would otherwise commit at once.
          if (!inTransaction(db)) state = "rolledBack";
          return failWith(cause);
        }
      });
    const end = () => {
      state = "ended";
      // SQLite leaves the transaction open when its COMMIT fails, for example on a deferred foreign key.
      leaveTransaction(db);
    };
    return { run, end };
  }
}

export function rolledBack(): SqlError.SqlError {
  const message = "Cannot go on with the transaction: a failed statement made the database roll it back";
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: undefined, message }) });
}

export function inTransaction(db: DatabaseSync): boolean {
  return db.isOpen && db.isTransaction;
}

/** Rolls an open transaction back. If that fails, closes the connection, which rolls back as well. */
function leaveTransaction(db: DatabaseSync): void {
  if (!inTransaction(db)) return;
  try {
    db.exec("ROLLBACK");
  } catch {
    db.close();
  }
}
