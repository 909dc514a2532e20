import { Effect } from "effect";
import { type Reader, readableActions } from "../accounts/member_store.ts";
import { type AuditFilter, AuditLog } from "../audit/audit.ts";
import type { KeyOwner } from "../keys/owned_keys.ts";

/** Who reads the audit log of an account. */
export interface AuditReader {
  readonly owner: KeyOwner;
  readonly role: Reader["role"];
}

/** Returns a function that lists the audit entries that a member may read, newest first, as `AuditLog.list` does. */
export const makeOwnedAudit = Effect.map(
  AuditLog,
  (log) =>
    (
      { owner: { account, scopes }, role }: AuditReader,
      before: number | null,
      limit: number,
      filter: AuditFilter,
    ) => {
      const readable = readableActions({ role, scopes });
      const wanted = filter.readable ?? null;
      return log.list(account.name, before, limit, {
        ...filter,
        pids: scopes,
        readable:
          readable === null || wanted === null
            ? (readable ?? wanted)
            : wanted.filter((each) => readable.includes(each)),
      });
    },
);
