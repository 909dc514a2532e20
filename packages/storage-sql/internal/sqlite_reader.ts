/**
 * Reads outside of transactions, on a connection of their own.
 *
 * To take and give back a snapshot of the file costs SQLite more than to find a row in it. So the reads of one turn of
 * the event loop share one: it begins with the first of them, and ends with the turn or, before that, with a write of
 * this process. A read that begins after a write was answered sees it; a write of another process is seen from the
 * next turn on.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Effect } from "effect";
import type { Run } from "./sqlite_access.ts";
import { untilUnlocked } from "./sqlite_busy.ts";

/** The connection that reads, and the snapshot that it reads from. */
export class Reader {
  readonly #db: DatabaseSync;
  readonly #busyTimeout: number;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  #reading = false;

  /** @param db a connection that nothing else uses, and that cannot write */
  constructor(db: DatabaseSync, busyTimeout: number) {
    this.#db = db;
    this.#busyTimeout = busyTimeout;
    this.#begin = db.prepare("BEGIN");
    this.#end = db.prepare("COMMIT");
  }

  readonly run: Run = (statement) =>
    untilUnlocked(this.#busyTimeout, () => {
      if (!this.#reading) {
        this.#begin.run();
        this.#reading = true;
        setImmediate(this.leave);
      }
      try {
        return Effect.succeed(statement());
      } catch (cause) {
        this.leave();
        throw cause;
      }
    });

  /** Ends the snapshot, so that the next read takes a new one. */
  readonly leave = (): void => {
    if (!this.#reading) return;
    this.#reading = false;
    // Closed it has no snapshot, and one of a damaged file is given back by an end that fails as well.
    if (this.#db.isOpen && this.#db.isTransaction) endQuietly(this.#end);
  };
}

function endQuietly(end: StatementSync): void {
  try {
    end.run();
  } catch {
    // What was read is not touched by it, and the next read says what is wrong with the file.
  }
}
