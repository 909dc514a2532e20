import { Context, Effect, Schema } from "effect";
import {
  type AuditAction,
  type AuditEntry,
  auditActions,
  linkActions,
  type WriteOrigin,
} from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import { ChatId, type KeyId, Pid, type SignInId } from "../ids.ts";
import type { Account } from "../keys/api_key.ts";
import { accountId, type RecordOf, recordType } from "../records/record_type.ts";
import type { Tx } from "../records/records.ts";
import { dayMs, type Millis } from "../timestamp.ts";

/** Each role may do everything that the roles after it may do. @internal */
export const memberRoles = ["owner", "admin", "moderator"] as const;

export type MemberRole = (typeof memberRoles)[number];

/** @internal */
export const maxMembers = 25;

/** How many free accounts a chat user may run. @internal */
export const maxFreeAccounts = 3;

/** How long a user may accept an invitation, in milliseconds. */
const invitationLifetime = 14 * dayMs;

/** @internal */
export const memberRecords = recordType({
  name: "members",
  fields: {
    account: accountId,
    chatId: ChatId,
    role: Schema.Literals(memberRoles),
    /** The scopes of which the member sees something; null for all of the account. An owner has null. */
    scopes: Schema.NullOr(Schema.Array(Pid)),
    /** When the user was added or invited. */
    since: Schema.Int,
    /**
     * When the user last chose the account at the dashboard. Null for an invitation that the user has not accepted: it
     * gives no right and counts for nothing but the maximum number of members.
     */
    chosenAt: Schema.NullOr(Schema.Int),
    /** The member who invited the user; null if an operator added the user, or the inviter was erased. */
    invitedBy: Schema.NullOr(ChatId),
  },
  json: ["scopes"],
  key: ["account", "chatId"],
  indexes: {
    /** The longest-standing member first, equal times by chat ID. A page of 25 links lists as many teams. */
    byAccount: { fields: ["account", "since", "chatId"], group: 1, isBatched: true },
    byUser: { fields: ["chatId", "account"], group: 1 },
    byInviter: { fields: ["invitedBy", "account", "chatId"], group: 1 },
  },
  ofUser: { index: "byUser", erasedAs: null },
});

/** A chat user who may use the dashboard for an account, or has an invitation to it. */
export interface Member extends Omit<RecordOf<typeof memberRecords>, "account"> {}

/** Returns whether the member counts: a user who was only invited has no part in the account. @internal */
export const hasAccepted = ({ chosenAt }: Pick<Member, "chosenAt">): boolean => chosenAt !== null;

export interface Membership extends Omit<Member, "chatId"> {
  readonly account: Account;
}

/** Whether a membership makes its user an owner of a suspended account. @internal */
export const isSuspendedOwner = ({ account, role, chosenAt }: Membership): boolean =>
  account.status === "suspended" && role === "owner" && hasAccepted({ chosenAt });

/** Invitations from this time or earlier have lapsed. @internal */
export const lapsedUntil = (at: Millis): Millis => at - invitationLifetime;

/** @internal */
export const hasLapsed = ({ chosenAt, since }: Pick<Member, "chosenAt" | "since">, at: Millis): boolean =>
  chosenAt === null && since <= lapsedUntil(at);

/** @internal */
export const allows = (role: MemberRole, needed: MemberRole): boolean =>
  memberRoles.indexOf(role) <= memberRoles.indexOf(needed);

/** What of a member decides what the member sees. @internal */
export type Reader = Pick<Member, "role" | "scopes">;

/** What a page or route needs: a role, or an admin of the whole account. @internal */
export type NeededRole = MemberRole | "admin_of_all";

/** Returns whether a member may do what needs a role. A member of some communities is no admin of the account. @internal */
export const permits = ({ role, scopes }: Reader, needed: NeededRole): boolean =>
  needed === "admin_of_all" ? scopes === null && allows(role, "admin") : allows(role, needed);

/** @internal */
export const mostScopes = 100;

/** Returns whether the role, null for none, runs the account. @internal */
export const runsAccount = (role: MemberRole | null): boolean => role !== null && allows(role, "admin");

/**
 * Returns whether the guilds that a member manages are lent to a list: owners and admins of all communities lend theirs to
 * every list of the account, a member of some communities to these, and a moderator of all to none. @internal
 */
export const lends = (member: Pick<Member, "role" | "scopes" | "chosenAt">, pid: Pid): boolean =>
  hasAccepted(member) && (member.scopes?.includes(pid) ?? runsAccount(member.role));

/** Returns whether the member runs the account: an owner or admin who has accepted. @internal */
export const isInCharge = (member: Pick<Member, "role" | "chosenAt">): boolean =>
  hasAccepted(member) && runsAccount(member.role);

/**
 * Returns whether a chat user runs too many free accounts to run this one too. Otherwise two users could make accounts
 * without end: one hands each new account to the other, leaves it and gets another one.
 *
 * @internal
 * @param memberships all accounts of the user
 */
export const runsTooMany = (memberships: ReadonlyArray<Membership>, name: string): boolean => {
  const isFree = ({ account }: Membership) => account.tier === "free";
  return (
    memberships.some((each) => each.account.name === name && isFree(each) && !isInCharge(each)) &&
    memberships.filter((each) => isFree(each) && isInCharge(each)).length >= maxFreeAccounts
  );
};

/** The actions whose audit entries a member may read; null for all actions. @internal */
export const readableActions = ({ role, scopes }: Reader): ReadonlyArray<AuditAction> | null => {
  if (!allows(role, "admin")) return linkActions;
  return scopes === null ? null : ofCommunities;
};

const ofCommunities = auditActions.filter((action) => !/^(?:key|webhook|member|user)\./.test(action));

/** Sorts a user's accounts: active ones first, then the most recently chosen, then by name. @internal */
export const membershipOrder = (one: Membership, other: Membership): number =>
  Number(one.account.status === "suspended") - Number(other.account.status === "suspended") ||
  (other.chosenAt ?? 0) - (one.chosenAt ?? 0) ||
  (one.account.name < other.account.name ? -1 : 1);

/** Returns the memberships of a chat user, in their order. @internal */
export const membershipsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const found = yield* tx.list(memberRecords.byUser, [chatId]);
  const accounts = yield* tx.accounts(found.map(({ account }) => account));
  const memberships = found.flatMap(({ chatId: _, account: id, ...member }): ReadonlyArray<Membership> => {
    const account = accounts.get(id);
    return account === undefined ? [] : [{ ...member, account }];
  });
  return memberships.toSorted(membershipOrder);
});

export type MemberChange =
  | {
      readonly type: "add";
      readonly chatId: ChatId;
      readonly role: MemberRole;
      /** All if left out. */
      readonly scopes?: Member["scopes"];
    }
  | {
      readonly type: "set_role";
      readonly chatId: ChatId;
      /** As before if left out. */
      readonly role?: MemberRole | undefined;
      readonly scopes?: Member["scopes"] | undefined;
    }
  | { readonly type: "remove" | "decline"; readonly chatId: ChatId };

/**
 * Returns the fields of a new member. Users that members add are invited; users that an operator adds have accepted.
 * @internal
 */
export const newMember = ({
  actor,
  at,
}: WriteOrigin & { readonly at: Millis }): Pick<Member, "since" | "chosenAt" | "invitedBy"> => ({
  since: at,
  chosenAt: actor.type === "operator" ? at : null,
  invitedBy: actor.type === "account" && actor.member !== null ? ChatId.make(actor.member) : null,
});

interface MemberDecision extends Pick<AuditEntry, "action" | "details"> {
  /** The new role; null if the user is no member any more. */
  readonly role: MemberRole | null;
  readonly scopes: Member["scopes"];
  /** Whether the last member in charge goes, so that the account closes. */
  readonly closes: boolean;
}

/** The keys that were revoked because the last member in charge has gone. */
export interface MemberChanged {
  readonly revokedKeys: ReadonlyArray<KeyId>;
}

/** Why a change of a member was refused. `unknown`: the account or member does not exist. */
export type MemberRefusal =
  | "unknown"
  | "unchanged"
  | "member_exists"
  | "member_limit"
  | "last_owner"
  | "account_limit";

/** `account_limit`: the user runs too many free accounts. */
export type ChoiceOutcome = "chosen" | "unknown" | "account_limit";

/**
 * Decides on a change of an account's members. Stores call it in their transaction.
 *
 * @internal
 * @param members the members and the invitations that have not lapsed
 * @param isFull `runsTooMany` of the changed user
 */
export const decideMember = (
  members: ReadonlyArray<Pick<Member, "chatId" | "role" | "scopes" | "chosenAt">>,
  change: MemberChange,
  isFull: boolean,
): MemberDecision | MemberRefusal => {
  const { chatId } = change;
  const [closes, none] = [false, null];
  const member = members.find((each) => each.chatId === chatId);
  if (change.type === "add") {
    if (member !== undefined) return "member_exists";
    if (members.length >= maxMembers) return "member_limit";
    const { role } = change;
    const scopes = scopesOf(role, change.scopes ?? null);
    const details = { chatId, role, ...(scopes !== null && { scopes: scopesText(scopes) }) };
    return { role, scopes, closes, action: "member.added", details };
  }
  if (member === undefined) return "unknown";
  if (change.type === "decline") {
    if (hasAccepted(member)) return "unknown";
    const details = { chatId, role: member.role };
    return { role: null, scopes: none, closes, action: "member.declined", details };
  }
  if (change.type !== "set_role") return decideRole(members, member, null, none, isFull);
  const { role = member.role, scopes = member.scopes } = change;
  return decideRole(members, member, role, scopesOf(role, scopes), isFull);
};

/** An owner is of all communities. */
const scopesOf = (role: MemberRole, scopes: Member["scopes"]): Member["scopes"] =>
  role === "owner" || scopes === null ? null : [...new Set(scopes)].toSorted();

const scopesText = (scopes: Member["scopes"]): string | null => scopes && scopes.join(", ");

/** Decides on another role of a member, or on a removal if `role` is null. */
const decideRole = <M extends Pick<Member, "chatId" | "role" | "scopes" | "chosenAt">>(
  members: ReadonlyArray<M>,
  member: M,
  role: MemberRole | null,
  scopes: Member["scopes"],
  isFull: boolean,
): MemberDecision | MemberRefusal => {
  const { chatId, role: before } = member;
  const [text, textBefore] = [scopesText(scopes), scopesText(member.scopes)];
  if (role === before && text === textBefore) return "unchanged";
  if (role !== before && isFull && hasAccepted(member) && runsAccount(role)) return "account_limit";
  const owners = members.filter((each) => each.role === "owner" && hasAccepted(each));
  if (role !== before && owners.length === 1 && owners[0] === member) return "last_owner";
  const staying = members.map((each) => (each === member ? { ...each, role: role ?? "moderator" } : each));
  const outcome = { role, scopes, closes: isInCharge(member) && !staying.some(isInCharge) };
  if (role === null) return { ...outcome, action: "member.removed", details: { chatId, role: before } };
  const changedScopes = text !== textBefore && { scopes: text, previousScopes: textBefore };
  const details = { chatId, role, previousRole: before, ...changedScopes };
  return { ...outcome, action: "member.role_changed", details };
};

/**
 * Stores the members of accounts and invitations, also lapsed ones. `KeyStore.ensureAccount` stores the account's
 * `chatId` as an owner, and `UserStore.erase` deletes the memberships of its user. Every operation is atomic.
 */
export class MemberStore extends Context.Service<
  MemberStore,
  {
    readonly list: (account: string) => StoreEffect<ReadonlyArray<Member>>;

    readonly findByChatId: (chatId: ChatId) => StoreEffect<ReadonlyArray<Membership>>;

    /**
     * Deletes lapsed invitations, applies `decideMember` to a change and writes an audit entry. If the user whose ID is
     * the account's `chatId` stops being an owner, this `chatId` becomes null. A removed member's sign-ins to the
     * account are deleted. An account that gets an owner or admin is not the operator's any more. If the last owner or
     * admin goes, the account closes: its keys are revoked, and its webhooks and role plans are paused. Members cannot
     * put a user in charge who `runsTooMany` accounts; an operator can.
     */
    readonly change: (
      write: WriteOrigin & { readonly account: string; readonly change: MemberChange; readonly at: Millis },
    ) => StoreEffect<MemberChanged | MemberRefusal>;

    /**
     * Moves a sign-in to another account of its user, and accepts an invitation to this account with a
     * `member.accepted` audit entry. `unknown` if the user is neither a member nor invited, `account_limit` if the
     * invitation would put a user in charge who `runsTooMany` accounts.
     */
    readonly choose: (choice: {
      readonly signIn: SignInId;
      readonly chatId: ChatId;
      readonly account: string;
      readonly at: Millis;
      readonly requestId: WriteOrigin["requestId"];
    }) => StoreEffect<ChoiceOutcome>;
  }
>()("@accountlink/core/MemberStore") {}
