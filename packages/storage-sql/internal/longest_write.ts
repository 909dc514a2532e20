/** How long after it was asked for a write may take effect. */
import { Context } from "effect";

/** In milliseconds. For SQLite: as long as anybody waits for its lock. */
export const LongestWrite = Context.Reference<{ readonly ofRecord: number; readonly ofScope: number }>(
  "@accountlink/storage-sql/LongestWrite",
  { defaultValue: () => ({ ofRecord: 60_000, ofScope: 60_000 }) },
);

/**
 * Until it is asked whether it may be committed, a write waits for a connection and has it for as long as a transaction
 * may take, and does so once more when the transaction was given up for another one: the first half. In the second half
 * Postgres takes the COMMIT no later than it waits for a statement, and runs it for no longer than one may run.
 *
 * @param connectTimeout in milliseconds, as the other
 */
export const longestWrite = (connectTimeout: number, transactionTimeout: number): number =>
  2 * (connectTimeout + 3 * transactionTimeout + 1_000);
