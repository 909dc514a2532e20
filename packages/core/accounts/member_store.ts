/** The port for the members of accounts. */
import { Context, type Effect } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, SignInId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { Member, MemberChange, MemberRefusal, Membership } from "./member.ts";

export interface ChangeMember extends WriteOrigin {
  /** The name of the account. */
  readonly account: string;
  readonly change: MemberChange;
  readonly at: Millis;
}

/** The choice of an account at a sign-in to the dashboard. */
export interface ChooseAccount {
  readonly signIn: SignInId;
  readonly chatId: ChatId;
  /** The name of the account. */
  readonly account: string;
  readonly at: Millis;
}

/**
 * Where the members of accounts live. `KeyStore.ensureAccount` stores the account's `chatId` as an owner, and
 * `UserStore.erase` deletes the memberships of its user. Every operation is atomic.
 */
export class MemberStore extends Context.Service<
  MemberStore,
  {
    /** The members of an account, in `memberOrder`. */
    readonly list: (account: string) => Effect.Effect<ReadonlyArray<Member>, StoreUnavailable>;

    /** The accounts of a chat user, in `membershipOrder`. */
    readonly findByChatId: (chatId: ChatId) => Effect.Effect<ReadonlyArray<Membership>, StoreUnavailable>;

    /**
     * Changes a member by `decideMember`, with an audit entry. An account whose `chatId` stops being an owner loses it,
     * and a removed member's sign-ins to the account are deleted.
     */
    readonly change: (write: ChangeMember) => Effect.Effect<"changed" | MemberRefusal, StoreUnavailable>;

    /** Makes a sign-in one to another account of its user. False if the user is not a member. */
    readonly choose: (choice: ChooseAccount) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/MemberStore") {}
