/**
 * Reads outside of transactions, on their own connection.
 *
 * To begin and end a snapshot costs SQLite more than a point read. So the reads of one turn of the
 * event loop share a snapshot. It ends with the turn, or with a write of this process. A read sees
 * every write of this process that was answered before it; writes of other processes are visible in
 * the next turn.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Effect } from "effect";
import type { Run } from "./access.ts";
import { retryWhileLocked } from "./lock_wait.ts";

export class SnapshotReader {
  readonly #db: DatabaseSync;
  readonly #busyTimeout: number;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  #reading = false;

  /** @param db a read-only connection, used by nothing else */
  constructor(db: DatabaseSync, busyTimeout: number) {
    this.#db = db;
    this.#busyTimeout = busyTimeout;
    this.#begin = db.prepare("BEGIN");
    this.#end = db.prepare("COMMIT");
  }

  readonly run: Run = (statement) =>
    retryWhileLocked(this.#busyTimeout, () => {
      if (!this.#reading) {
        this.#begin.run();
        this.#reading = true;
        setImmediate(this.endSnapshot);
      }
      try {
        return Effect.succeed(statement());
      } catch (cause) {
        this.endSnapshot();
        throw cause;
      }
    });

  /** Ends the snapshot, so that the next read takes a new one. */
  readonly endSnapshot = (): void => {
    if (!this.#reading) return;
    this.#reading = false;
    // A closed connection has no snapshot. On a damaged file, a COMMIT that fails ends it as well.
    if (this.#db.isOpen && this.#db.isTransaction) endQuietly(this.#end);
  };
}

function endQuietly(end: StatementSync): void {
  try {
    end.run();
  } catch {
    // The answer is already read; the next read reports the damage.
  }
}
