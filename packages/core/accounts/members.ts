import { Clock, Context, Effect, Layer } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import { BadRequest, Conflict, Forbidden, type StoreEffect } from "../errors.ts";
import type { ChatId, SignInId } from "../ids.ts";
import {
  hasAccepted,
  hasLapsed,
  type Member,
  type MemberChange,
  MemberStore,
  type Membership,
} from "./member_store.ts";

/** The accounts of a chat user, the last chosen one first, and the accounts to which the user is invited. */
export interface AccountsOfUser {
  readonly accounts: ReadonlyArray<Membership>;
  readonly invitations: ReadonlyArray<Membership>;
}

/** The error if the account or the member does not exist. Its reason is `not_found`. */
type Unknown = BadRequest;

/**
 * Manages the members of accounts. Every change is written to the audit log and takes effect on the dashboard at once.
 * @internal
 */
export class Members extends Context.Service<
  Members,
  {
    /** Returns the members and the invitations that have not lapsed. */
    readonly list: (account: string) => StoreEffect<ReadonlyArray<Member>>;

    /**
     * Changes a member and returns whether anything changed. Fails with `Conflict` `member_exists`, `member_limit` or
     * `last_owner`.
     */
    readonly change: (
      account: string,
      change: MemberChange,
      origin: WriteOrigin,
    ) => StoreEffect<boolean, Unknown | Conflict>;

    readonly accountsOf: (chatId: ChatId) => StoreEffect<AccountsOfUser>;

    /**
     * Moves a sign-in to another account of the same user, and accepts an invitation to this account. Fails with
     * `Forbidden` if the account is suspended.
     */
    readonly choose: (
      signIn: { readonly id: SignInId; readonly chatId: ChatId },
      account: string,
      requestId: string,
    ) => StoreEffect<Membership, Unknown | Forbidden>;

    /** Declines an invitation to an account. */
    readonly decline: (
      user: { readonly chatId: ChatId },
      account: string,
      requestId: string,
    ) => StoreEffect<void, Unknown>;
  }
>()("@accountlink/core/Members") {
  static readonly layer = Effect.gen(function* () {
    const store = yield* MemberStore;
    return Members.of({
      list: Effect.fn("Members.list")(function* (account) {
        const now = yield* Clock.currentTimeMillis;
        return (yield* store.list(account)).filter((member) => !hasLapsed(member, now));
      }),

      accountsOf: Effect.fn("Members.accountsOf")(function* (chatId) {
        const now = yield* Clock.currentTimeMillis;
        const found = yield* store.findByChatId(chatId);
        const isOpen = (each: Membership) => !hasAccepted(each) && !hasLapsed(each, now);
        return { accounts: found.filter(hasAccepted), invitations: found.filter(isOpen) };
      }),

      change: Effect.fn("Members.change")(function* (account, change, origin) {
        const at = yield* Clock.currentTimeMillis;
        const outcome = yield* store.change({ ...origin, account, change, at });
        if (outcome === "unknown") return yield* new BadRequest({ problem: "not_found" });
        if (outcome === "changed" || outcome === "unchanged") return outcome === "changed";
        return yield* new Conflict({ reason: outcome });
      }),

      choose: Effect.fn("Members.choose")(function* ({ id, chatId }, name, requestId) {
        const found = (yield* store.findByChatId(chatId)).find(({ account }) => account.name === name);
        if (found?.account.status === "suspended") {
          return yield* new Forbidden({ reason: "account_suspended" });
        }
        const at = yield* Clock.currentTimeMillis;
        const isChosen =
          found !== undefined && (yield* store.choose({ signIn: id, chatId, account: name, requestId, at }));
        return isChosen ? found : yield* new BadRequest({ problem: "not_found" });
      }),

      decline: Effect.fn("Members.decline")(function* ({ chatId }, account, requestId) {
        const at = yield* Clock.currentTimeMillis;
        const actor = { type: "account", id: account, member: chatId } as const;
        const change = { type: "decline", chatId } as const;
        const outcome = yield* store.change({ actor, requestId, account, change, at });
        if (outcome !== "changed") return yield* new BadRequest({ problem: "not_found" });
      }),
    });
  }).pipe(Layer.effect(Members));
}
