/** The account of the user at the dashboard, and the permissions of the user's role. */
import { type AccountsOfUser, allows, Members, type Membership } from "@accountlink/core/accounts";
import { Forbidden, InvalidSession, type StoreUnavailable } from "@accountlink/core/errors";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import type { Route } from "@accountlink/http-api";
import { Effect } from "effect";

/** The account that a signed-in user has chosen, the user's role in it, and all accounts and invitations of the user. */
export interface SignedInMember extends Pick<Membership, "account" | "role">, AccountsOfUser {}

/**
 * Returns a function that finds the account of a sign-in. It fails if the account is suspended, the person is no
 * longer a member, or the role does not allow the action.
 */
export const makeMemberOf = Effect.map(Members, (members) =>
  Effect.fnUntraced(function* (
    signIn: SiteSignIn,
    needed: Required<Route>["role"],
    subject?: unknown,
  ): Effect.fn.Return<SignedInMember, InvalidSession | Forbidden | StoreUnavailable> {
    const { accounts, invitations } = yield* members.accountsOf(signIn.chatId);
    const found = accounts.find(({ account }) => account.name === signIn.account);
    if (found === undefined) return yield* new InvalidSession();
    const { account, role } = found;
    if (account.status === "suspended") return yield* new Forbidden({ reason: "account_suspended" });
    const isAllowed =
      needed === "owner_or_self" ? allows(role, "owner") || subject === signIn.chatId : allows(role, needed);
    return isAllowed ? { account, role, accounts, invitations } : yield* new Forbidden({ reason: "role" });
  }),
);
