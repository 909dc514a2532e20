/**
 * The port that reads the audit log. Entries are written by the operations that they record, in the same transaction.
 */
import { Context, type Effect } from "effect";
import type { AuditEntry } from "../audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../link.ts";

/** Where the audit log lives. */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Up to `limit` entries of an account, newest first, from the one before sequence `before`. */
    readonly list: (
      account: string,
      before: number | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>;

    /**
     * Deletes the entries of all accounts from before a time, and gives how many there were. It goes through the log from
     * its oldest entry on, and no further than to where none is from before, in small steps that are each atomic.
     */
    readonly forget: (before: Millis) => Effect.Effect<number, StoreUnavailable>;
  }
>()("@accountlink/core/AuditLog") {}
