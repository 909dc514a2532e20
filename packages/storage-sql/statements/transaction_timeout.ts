import { Context } from "effect";

/** Timeout of the transactions in this context, in milliseconds; null is that of the pool. */
export const TransactionTimeout = Context.Reference<number | null>(
  "@accountlink/storage-sql/TransactionTimeout",
  { defaultValue: () => null },
);
