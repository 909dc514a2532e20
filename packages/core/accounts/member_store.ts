import { Context } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, SignInId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { Member, MemberChange, MemberRefusal, Membership } from "./member.ts";

export interface ChangeMember extends WriteOrigin {
  readonly account: string;
  readonly change: MemberChange;
  readonly at: Millis;
}

/** A signed-in user's choice of the account that the dashboard shows. */
export interface ChooseAccount extends Pick<WriteOrigin, "requestId"> {
  readonly signIn: SignInId;
  readonly chatId: ChatId;
  readonly account: string;
  readonly at: Millis;
}

/**
 * Stores the members of accounts and invitations, also lapsed ones. `KeyStore.ensureAccount` stores the account's `chatId` as an owner, and
 * `UserStore.erase` deletes the memberships of its user. Every operation is atomic.
 */
export class MemberStore extends Context.Service<
  MemberStore,
  {
    readonly list: (account: string) => StoreEffect<ReadonlyArray<Member>>;

    readonly findByChatId: (chatId: ChatId) => StoreEffect<ReadonlyArray<Membership>>;

    /**
     * Deletes lapsed invitations, applies `decideMember` to a change and writes an audit entry. If the user whose ID is the account's `chatId`
     * stops being an owner, this `chatId` becomes null. A removed member's sign-ins to the account are deleted.
     */
    readonly change: (write: ChangeMember) => StoreEffect<"changed" | MemberRefusal>;

    /**
     * Moves a sign-in to another account of its user, and accepts an invitation to this account with a
     * `member.accepted` audit entry. Returns false if the user is neither a member nor invited.
     */
    readonly choose: (choice: ChooseAccount) => StoreEffect<boolean>;
  }
>()("@accountlink/core/MemberStore") {}
