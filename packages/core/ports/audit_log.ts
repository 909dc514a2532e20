/**
 * The port that reads the audit log. Entries are written by the operations that they record, in the same transaction.
 */
import { Context, type Effect } from "effect";
import type { AuditEntry } from "../audit.ts";
import type { StoreUnavailable } from "../errors.ts";

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
  }
>()("@accountlink/core/AuditLog") {}
