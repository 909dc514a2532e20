/** How long after it was asked for a write may take effect. */
import { Context } from "effect";

/** In milliseconds. For SQLite: as long as anybody waits for its lock. */
export const LongestWrite = Context.Reference<{ readonly ofRecord: number; readonly ofScope: number }>(
  "@accountlink/storage-sql/LongestWrite",
  { defaultValue: () => ({ ofRecord: 60_000, ofScope: 60_000 }) },
);

/**
 * A write waits for a connection and has it for as long as a transaction may take. What it has sent by then, and nobody
 * waits for any more, Postgres takes no later than it waits for a statement, and runs for no longer than one may run. All
 * of that twice, since a transaction that was given up for another one is tried once more.
 *
 * @param connectTimeout in milliseconds, as the other
 */
export const longestWrite = (connectTimeout: number, transactionTimeout: number): number =>
  2 * (connectTimeout + 3 * transactionTimeout + 1_000);
