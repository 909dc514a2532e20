/**
 * Shares the node:sqlite connection that writes between fibers. Statements are synchronous, so fibers interleave only
 * between statements.
 */
import type { DatabaseSync } from "node:sqlite";
import { bounds, Turns, turnOwner } from "@accountlink/core/turns";
import { Deferred, Effect, Exit, Scope } from "effect";
import { SqlError } from "effect/sql";
import { type Run, retryWhileLocked, type Statements } from "./connection.ts";
import { failWith, isDiskFull } from "./sql_error.ts";

export interface AccessOptions {
  /** How long to wait for locks of other processes, in milliseconds. */
  readonly busyTimeout: number;
  /** Called after every statement or transaction that may have written. */
  readonly onWrite: () => void;
  /** Called after every commit of a group of transactions. */
  readonly onCommit: () => void;
  /** Called after every statement that failed because the disk is full. */
  readonly onDiskFull: () => void;
}

/**
 * Resumes other fibers when the one that runs has paused. Effect's `forEach` with a limit runs an item twice and leaves
 * another out if an item that it is starting ends another one at once.
 */
const answerLater = queueMicrotask;

/** How long a transaction waits for a lock whose turn came late, in milliseconds: as long as a commit takes. */
const shortestWait = 10;

/** Transactions that share a commit, since its sync of the disk costs more than their statements. */
interface Group {
  endsSoon: boolean;
  readonly until: number;
  readonly committed: Deferred.Deferred<void, SqlError.SqlError>;
}

/** A turn of the connection, for one transaction. */
export interface Lease {
  readonly run: Run;
  /** Begins a transaction, which commits together with those that wait for their turn meanwhile. */
  readonly begin: Effect.Effect<void, SqlError.SqlError>;
  /** Ends the turn, and waits for the commit. */
  readonly commit: Effect.Effect<void, SqlError.SqlError>;
  readonly rollback: Effect.Effect<void>;
  readonly isTransaction: () => boolean;
}

/**
 * Gives turns to those who use the connection, in rounds of the accounts:
 *
 * - `lease` for a transaction. Those that wait while one runs, or come in the same turn of the event loop, follow it in
 *   savepoints of the same transaction of the database. One that fails is rolled back alone; all others are answered after
 *   the commit.
 * - `write` for a statement, which is a transaction as well.
 * - `alone` for a statement that cannot run in a transaction, after the open one has been committed.
 * - `leaseBulk` for a transaction of another connection.
 *
 * `oneStep` runs a transaction between two turns, if nobody has or wants one.
 */
export class Access {
  readonly #db: DatabaseSync;
  readonly #statements: Statements;
  readonly #busyTimeout: number;
  readonly #turns = new Turns({ resource: "sqlite_writer", places: 1 });
  #giveTurnBack: Effect.Effect<void> = Effect.void;
  #isTaken = false;
  /** The open transaction of the database, if transactions share it. */
  #group: Group | null = null;
  readonly #onWrite: () => void;
  readonly #onCommit: () => void;
  readonly #onDiskFull: () => void;

  constructor(db: DatabaseSync, statements: Statements, options: AccessOptions) {
    this.#db = db;
    this.#statements = statements;
    this.#busyTimeout = options.busyTimeout;
    this.#onWrite = options.onWrite;
    this.#onCommit = options.onCommit;
    this.#onDiskFull = options.onDiskFull;
  }

  readonly write: Run = (statement) =>
    Effect.scoped(
      Effect.flatMap(this.lease, ({ begin, run, commit }) =>
        Effect.andThen(begin, Effect.tap(run(statement), commit)),
      ),
    );

  readonly alone: Run = (statement) => Effect.scoped(Effect.flatMap(this.lease, ({ run }) => run(statement)));

  /** Leases the connection until the scope closes, then rolls back a transaction that is still open. */
  readonly lease: Effect.Effect<Lease, never, Scope.Scope> = Effect.uninterruptibleMask((restore) => {
    // Those that waited for their turn behind others do not wait for the lock of another process anew.
    const deadline = performance.now() + this.#busyTimeout;
    return Effect.flatMap(this.#takeTurn(restore), () => {
      const { lease, end } = this.#makeLease(deadline);
      // `Effect.addFinalizer` would copy all services of the request for the finalizer.
      return Effect.flatMap(Effect.scope, (scope) => Effect.as(Scope.addFinalizer(scope, end), lease));
    });
  });

  /**
   * Runs a transaction without a pause between its statements, as a member of the open group or the first one of a new
   * group, and waits for the commit. Returns null if another transaction has the turn or waits for it, or if `body` returns
   * null, whose statements are then undone.
   */
  oneStep<A>(body: () => A | null): Effect.Effect<A | null, SqlError.SqlError> {
    return Effect.suspend(() => {
      if (!this.#beginStep()) return nothing;
      const open = this.#group;
      let result: A | null;
      try {
        result = this.#noticing(body);
        if (result !== null && open !== null) this.#run("RELEASE member");
      } catch (cause) {
        if (inTransaction(this.#db)) this.#undoStep(open);
        else this.#failGroup(Effect.fail(rolledBack()));
        return failWith(cause);
      }
      if (result === null) {
        this.#undoStep(open);
        return nothing;
      }
      const group = open ?? this.#newGroup();
      this.#endGroupSoon(group);
      return Effect.uninterruptible(Effect.as(Deferred.await(group.committed), result));
    });
  }

  /** Joins the open group, or begins a transaction. Returns false if it would have to wait. */
  #beginStep(): boolean {
    if (this.#isTaken || !this.#turns.isIdle) return false;
    if (this.#group !== null && performance.now() >= this.#group.until) this.#commitGroup();
    if (this.#group === null && inTransaction(this.#db)) return false;
    try {
      this.#run(this.#group === null ? "BEGIN IMMEDIATE" : "SAVEPOINT member");
      return true;
    } catch {
      return false;
    }
  }

  #undoStep(open: Group | null): void {
    if (open === null) leaveTransaction(this.#db);
    else this.#undoMember();
  }

  /** Undoes the statements of the last member of the open group. */
  #undoMember(): void {
    try {
      this.#run("ROLLBACK TO member");
      this.#run("RELEASE member");
    } catch {
      this.#failGroup(Effect.fail(rolledBack()));
    }
  }

  #newGroup(): Group {
    const committed = Deferred.makeUnsafe<void, SqlError.SqlError>();
    const group = { endsSoon: false, until: performance.now() + bounds.commitJoined, committed };
    this.#group = group;
    return group;
  }

  /** Leases another connection to the file until the scope closes. */
  leaseBulk<A, E>(other: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E, Scope.Scope> {
    const end = Effect.suspend(() => {
      this.#onCommit();
      return this.#passTurn;
    });
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(this.#takeTurn(restore), () => {
        this.#commitGroup();
        return Effect.andThen(
          Effect.addFinalizer(() => end),
          restore(other),
        );
      }),
    );
  }

  #takeTurn(restore: (wait: Effect.Effect<void>) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.flatMap(turnOwner, (owner) =>
      Effect.map(this.#turns.enter(owner, restore), (giveBack) => {
        this.#giveTurnBack = giveBack;
        this.#isTaken = true;
      }),
    );
  }

  /** Gives the turn to the next fiber, which joins the group. Ends the group at the latest when none comes. */
  readonly #passTurn: Effect.Effect<void> = Effect.suspend(() => {
    this.#isTaken = false;
    const group = this.#group;
    if (group !== null && performance.now() < group.until) this.#endGroupSoon(group);
    else this.#endGroup();
    return this.#giveTurnBack;
  });

  #endGroupSoon(group: Group): void {
    if (group.endsSoon) return;
    group.endsSoon = true;
    setImmediate(() => {
      group.endsSoon = false;
      // The fiber that has the turn ends the group, or asks again.
      if (this.#group !== group || this.#isTaken) return;
      if (this.#turns.waiting > 0) this.#endGroupSoon(group);
      else this.#endGroup();
    });
  }

  #endGroup(): void {
    if (this.#group === null) this.#onWrite();
    else this.#commitGroup();
  }

  #commitGroup(): void {
    if (this.#group === null) return;
    try {
      this.#run("COMMIT");
      this.#onCommit();
      this.#settleGroup(Exit.void);
    } catch (cause) {
      // SQLite leaves the transaction open when its COMMIT fails, for example on a deferred foreign key.
      this.#failGroup(failWith(cause));
    }
  }

  /**
   * Rolls the group back and fails all of its transactions. The answers resume fibers at once, whose statements would
   * otherwise wait for the end of the transaction.
   */
  #failGroup(error: Effect.Effect<never, SqlError.SqlError>): void {
    leaveTransaction(this.#db);
    this.#settleGroup(error);
  }

  /** Answers all transactions of the group. */
  #settleGroup(result: Effect.Effect<void, SqlError.SqlError>): void {
    if (this.#group === null) return;
    const { committed } = this.#group;
    this.#group = null;
    this.#onWrite();
    answerLater(() => Deferred.doneUnsafe(committed, result));
  }

  #run(control: string): void {
    this.#noticing(() => this.#statements.rows.run(control, []));
  }

  #noticing<A>(statement: () => A): A {
    try {
      return statement();
    } catch (cause) {
      if (isDiskFull(cause)) this.#onDiskFull();
      throw cause;
    }
  }

  /** @param deadline until when its statements wait for a lock of another process */
  #makeLease(deadline: number): { readonly lease: Lease; readonly end: Effect.Effect<void> } {
    const db = this.#db;
    /** `alone`: outside of groups. `first`: began its group. `member`: in a savepoint of its group. */
    let state: "alone" | "first" | "member" | "rolledBack" | "ended" = "alone";

    const run: Run = (statement) =>
      Effect.suspend(() => {
        if (state === "ended")
          return Effect.die(new Error("Cannot run a statement: its transaction has ended"));
        if (state === "rolledBack") return Effect.fail(rolledBack());
        if (state === "alone") this.#commitGroup();
        if (!inTransaction(db)) {
          const wait = Math.max(shortestWait, deadline - performance.now());
          return retryWhileLocked(wait, () => Effect.succeed(this.#noticing(statement)));
        }
        try {
          return Effect.succeed(this.#noticing(statement));
        } catch (cause) {
          // SQLite may roll the transaction back by itself, for example on a full disk. Remember this, because each
          // later statement of the transaction would otherwise commit at once.
          if (!inTransaction(db)) {
            state = "rolledBack";
            this.#failGroup(Effect.fail(rolledBack()));
          }
          return failWith(cause);
        }
      });

    const begin = Effect.suspend(() => {
      const group = this.#group;
      if (group !== null) {
        state = "member";
        return run(() => this.#run("SAVEPOINT member"));
      }
      return Effect.map(
        run(() => this.#run("BEGIN IMMEDIATE")),
        () => {
          state = "first";
          this.#newGroup();
        },
      );
    });

    const commit = Effect.suspend(() => {
      const group = this.#group;
      if (group === null) return run(() => this.#run("COMMIT"));
      const release = state === "member" ? run(() => this.#run("RELEASE member")) : Effect.void;
      return Effect.andThen(release, () => {
        state = "ended";
        return Effect.andThen(this.#passTurn, Deferred.await(group.committed));
      });
    });

    /** Undoes the statements of this lease. The other transactions of the group stay. */
    const undo = () => {
      if (state === "member") this.#undoMember();
      else if (state === "first" || this.#group === null) {
        this.#group = null;
        leaveTransaction(db);
      }
      state = "rolledBack";
    };

    const end = Effect.suspend(() => {
      if (state === "ended") return Effect.void;
      if (state !== "rolledBack") undo();
      state = "ended";
      return this.#passTurn;
    });
    const isTransaction = () => state !== "ended" && state !== "rolledBack" && inTransaction(db);
    return { lease: { run, begin, commit, rollback: Effect.sync(undo), isTransaction }, end };
  }
}

const nothing = Effect.succeed(null);

export function rolledBack(): SqlError.SqlError {
  const message = "Cannot go on with the transaction: a failed statement made the database roll it back";
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: undefined, message }) });
}

function inTransaction(db: DatabaseSync): boolean {
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
