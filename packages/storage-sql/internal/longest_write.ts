/** How long after it was asked for a write may take effect. */
import { Context } from "effect";

/** In milliseconds. The default is for SQLite, on which no write takes nearly as long. */
export const LongestWrite = Context.Reference<{
  readonly ofRecord: number;
  readonly ofScope: number;
  /** From then on a COMMIT is late, and no bound holds for its write. */
  readonly ofCommit: number;
}>("@accountlink/storage-sql/LongestWrite", {
  defaultValue: () => ({ ofRecord: 60_000, ofScope: 60_000, ofCommit: 60_000 }),
});

/**
 * How long a write to Postgres may take.
 *
 * The first half ends when the write asks whether it may be committed. Until then it waits for a connection and has it
 * for as long as a transaction may take. It does both once more when the transaction was given up for another one.
 *
 * In the second half Postgres begins with the COMMIT. It waits for the next message for as long as a transaction may take,
 * and once more as long for the rest of that message. The time that is left is for the COMMIT, and longer than `ofCommit`.
 *
 * @param connectTimeout in milliseconds, as the other
 */
export const longestWrite = (connectTimeout: number, transactionTimeout: number): number =>
  2 * (connectTimeout + 3 * transactionTimeout + 1_000);
