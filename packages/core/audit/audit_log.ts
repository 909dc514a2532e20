import { Context } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, KeyId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { AuditAction, AuditEntry } from "./audit.ts";

export interface AuditFilter {
  /** Selects entries with this action; null selects all entries. */
  readonly action: AuditAction | null;
  /** Selects entries in which this key was changed or made the change; null selects all entries. */
  readonly keyId: KeyId | null;
  /** Selects entries about this chat user; null or omitted selects all entries. */
  readonly chatId?: ChatId | null;
  /** Selects entries about changes of this data scope; null or omitted selects all entries. */
  readonly pid?: Pid | null;
  /** Selects entries with actions that the reader may see; null or omitted selects all entries. */
  readonly readable?: ReadonlyArray<AuditAction> | null;
}

/**
 * Reads the audit log. Each entry is stored in the transaction of the change that it records.
 *
 * @example
 * ```ts
 * import { auditActions } from "@accountlink/core/audit";
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * await world.links.delete("100001");
 * const filter = { action: "link.removed", keyId: null } as const;
 * const list = Effect.flatMap(AuditLog, (log) => log.list("acme", null, 10, filter));
 * const entries = await world.run(list);
 * entries[0]?.details; // { chatId: "100001", removedGameId: "1" }
 * entries.every(({ action }) => auditActions.includes(action)); // true
 * await world.close();
 * ```
 */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Returns up to `limit` entries of an account before sequence `before`, newest first. */
    readonly list: (
      account: string,
      before: number | null,
      limit: number,
      filter?: AuditFilter,
    ) => StoreEffect<ReadonlyArray<AuditEntry>>;

    /**
     * Deletes the entries of all accounts from before a time, and returns the number of deleted entries. It deletes the
     * oldest entries first, in small atomic steps, until a step finds no more entries.
     */
    readonly forget: (before: Millis) => StoreEffect<number>;
  }
>()("@accountlink/core/AuditLog") {}
