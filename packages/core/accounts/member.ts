import { type AuditAction, type AuditEntry, linkActions, type WriteOrigin } from "../audit/audit.ts";
import type { ChatId } from "../ids.ts";
import type { Account } from "../keys/api_key.ts";
import type { Millis } from "../timestamp.ts";

/** Each role may do everything that the roles after it may do. @internal */
export const memberRoles = ["owner", "admin", "moderator"] as const;

export type MemberRole = (typeof memberRoles)[number];

/** @internal */
export const maxMembers = 25;

/** A chat user who may use the dashboard for an account. */
export interface Member {
  readonly chatId: ChatId;
  readonly role: MemberRole;
  readonly since: Millis;
  /**
   * When the user last chose the account at the dashboard. Null if the user was added by another member and has not
   * chosen the account yet.
   */
  readonly chosenAt: Millis | null;
}

/** Returns whether the member counts: a user who was only invited has no part in the account. @internal */
export const hasAccepted = ({ chosenAt }: Pick<Member, "chosenAt">): boolean => chosenAt !== null;

export interface Membership extends Omit<Member, "chatId"> {
  readonly account: Account;
}

/** @internal */
export const allows = (role: MemberRole, needed: MemberRole): boolean =>
  memberRoles.indexOf(role) <= memberRoles.indexOf(needed);

/** The actions whose audit entries a role may read; null for all actions. @internal */
export const readableActions = (role: MemberRole): ReadonlyArray<AuditAction> | null =>
  allows(role, "admin") ? null : linkActions;

/** Sorts a user's accounts: active ones first, then the most recently chosen, then by name. @internal */
export const membershipOrder = (one: Membership, other: Membership): number =>
  Number(one.account.status === "suspended") - Number(other.account.status === "suspended") ||
  (other.chosenAt ?? 0) - (one.chosenAt ?? 0) ||
  (one.account.name < other.account.name ? -1 : 1);

/** Sorts an account's members: the longest-standing member first, equal times by chat ID. @internal */
export const memberOrder = (one: Member, other: Member): number =>
  one.since - other.since || (one.chatId < other.chatId ? -1 : 1);

export type MemberChange =
  | { readonly type: "add" | "set_role"; readonly chatId: ChatId; readonly role: MemberRole }
  | { readonly type: "remove"; readonly chatId: ChatId };

/**
 * Returns the `chosenAt` of a new member. A member added by an operator counts as having chosen the account.
 *
 * @internal
 */
export const firstChoice = ({ actor, at }: WriteOrigin & { readonly at: Millis }): Millis | null =>
  actor.type === "operator" ? at : null;

/** Why a change of a member was refused. `unknown`: the account or member does not exist. */
export type MemberRefusal = "unknown" | "unchanged" | "member_exists" | "member_limit" | "last_owner";

export interface MemberDecision extends Pick<AuditEntry, "action" | "details"> {
  readonly role: MemberRole | null;
}

/** Decides on a change of an account's members. Stores call it in their transaction. @internal */
export const decideMember = (
  members: ReadonlyArray<Pick<Member, "chatId" | "role">>,
  change: MemberChange,
): MemberDecision | MemberRefusal => {
  const { chatId } = change;
  const before = members.find((member) => member.chatId === chatId)?.role;
  if (change.type === "add") {
    if (before !== undefined) return "member_exists";
    if (members.length >= maxMembers) return "member_limit";
    return { role: change.role, action: "member.added", details: { chatId, role: change.role } };
  }
  if (before === undefined) return "unknown";
  const role = change.type === "remove" ? null : change.role;
  if (role === before) return "unchanged";
  if (before === "owner" && members.filter((member) => member.role === "owner").length === 1) {
    return "last_owner";
  }
  return role === null
    ? { role, action: "member.removed", details: { chatId, role: before } }
    : { role, action: "member.role_changed", details: { chatId, role, previousRole: before } };
};
