/**
 * The port that reads the audit log. Entries are written by the operations that they record, in the same transaction;
 * only what no other port does is appended here.
 */
import { Context, type Effect } from "effect";
import type { AuditEntry } from "../audit.ts";
import type { StoreUnavailable } from "../errors.ts";

/** Where the audit log lives. */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Appends one entry; the store gives it its sequence. */
    readonly append: (entry: Omit<AuditEntry, "sequence">) => Effect.Effect<void, StoreUnavailable>;

    /** Up to `limit` entries of an account, newest first, from the one before sequence `before`. */
    readonly list: (
      account: string,
      before: number | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>;
  }
>()("@accountlink/core/AuditLog") {}
