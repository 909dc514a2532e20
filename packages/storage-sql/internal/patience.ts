/** How long transactions may take. */
import { Context } from "effect";

/** In milliseconds, for the transactions in this context; as long as any other when null. */
export const Patience = Context.Reference<number | null>("@accountlink/storage-sql/Patience", {
  defaultValue: () => null,
});
