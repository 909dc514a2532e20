/**
 * The audit log: who did what. Every change of links and keys writes its entry in the same transaction.
 */
import type { ChatId, KeyId, Pid } from "./ids.ts";
import type { Millis } from "./link.ts";

/**
 * Who acts: a key over HTTP, an operator at the command line, an account on the dashboard, or a chat user who has proven
 * to be one.
 */
export type Actor =
  | { readonly type: "key"; readonly id: KeyId }
  | { readonly type: "operator"; readonly id: string }
  | { readonly type: "account"; readonly id: string }
  | { readonly type: "user"; readonly id: ChatId };

export type AuditAction =
  | "link.set"
  | "link.moved"
  | "link.removed"
  | "links.imported"
  | "scope.deleted"
  | "key.created"
  | "key.rotated"
  | "key.status_changed"
  | "key.reported"
  | "user.erased";

/** Where a change comes from; every write takes one. */
export interface WriteOrigin {
  readonly actor: Actor;
  /** The request that asked for it, when there was one. */
  readonly requestId: string | null;
}

/** One line of the log. */
export interface AuditEntry extends WriteOrigin {
  /** Grows with every entry of a store. */
  readonly sequence: number;
  readonly at: Millis;
  readonly account: string;
  /** The scope that changed, or null for a change of the account itself. */
  readonly pid: Pid | null;
  readonly action: AuditAction;
  /** What changed, such as the chat ID and the previous game ID. Never a secret or an address. */
  readonly details: Readonly<Record<string, string | number | null>>;
}
