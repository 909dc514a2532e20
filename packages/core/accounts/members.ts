import { Clock, Context, Effect, Layer, Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import { BadRequest, Conflict, Forbidden, InvalidApiKey } from "../errors.ts";
import type { ChatId, SignInId } from "../ids.ts";
import { KeyChanges } from "../keys/key_changes.ts";
import { type ApiKey, type KeyOwner, KeyStore, type ManagingKey } from "../keys/mod.ts";
import { makeOwnersOfKey } from "./managing_keys.ts";
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

/** Finds a membership by the name that an owner gave the account, or by the account's own name, which comes first. */
const calledBy = (memberships: ReadonlyArray<Membership>, name: string): Membership | undefined =>
  memberships.find(({ account }) => account.name === name) ??
  memberships.find(({ account }) => account.displayName === name);

/**
 * Manages the members of accounts. Every change is written to the audit log and takes effect on the dashboard at once.
 * @internal
 */
export class Members extends Context.Service<Members>()("@accountlink/core/Members", {
  make: Effect.gen(function* () {
    const store = yield* MemberStore;
    const keys = yield* KeyStore;
    const ownersOfKey = yield* makeOwnersOfKey;
    const { announce } = yield* KeyChanges;
    return {
      /** Returns the members and the invitations that have not lapsed. */
      list: Effect.fn("Members.list")(function* (account: string) {
        const now = yield* Clock.currentTimeMillis;
        return (yield* store.list(account)).filter((member) => !hasLapsed(member, now));
      }),

      /** Returns the members of an account that a member may see, each with the communities that both may see. */
      seenBy: Effect.fn("Members.seenBy")(function* ({ account, chatId, scopes: own }: KeyOwner) {
        const now = yield* Clock.currentTimeMillis;
        const listed = (yield* store.list(account.name)).filter((member) => !hasLapsed(member, now));
        if (own === null) return listed;
        const shared = (scopes: Member["scopes"]) => scopes && scopes.filter((pid) => own.includes(pid));
        return listed
          .map((member) => ({ ...member, scopes: shared(member.scopes) }))
          .filter((member) => member.chatId === chatId || member.scopes?.length !== 0);
      }),

      accountsOf: Effect.fn("Members.accountsOf")(function* (chatId: ChatId) {
        const now = yield* Clock.currentTimeMillis;
        const found = yield* store.findByChatId(chatId);
        const isOpen = (each: Membership) => !hasAccepted(each) && !hasLapsed(each, now);
        return { accounts: found.filter(hasAccepted), invitations: found.filter(isOpen) };
      }),

      /**
       * Changes a member and returns whether anything changed. If the last owner or admin goes, every node refuses the
       * account's keys within a second. Fails with `Conflict` `member_exists`, `member_limit`, `last_owner`
       * or `account_limit`.
       */
      change: Effect.fn("Members.change")(function* (
        account: string,
        change: MemberChange,
        origin: WriteOrigin,
      ) {
        const at = yield* Clock.currentTimeMillis;
        const outcome = yield* store.change({ ...origin, account, change, at });
        if (outcome === "unknown") return yield* new BadRequest({ problem: "not_found" });
        if (outcome === "unchanged") return false;
        if (typeof outcome === "string") return yield* new Conflict({ reason: outcome });
        yield* Effect.forEach(outcome.revokedKeys, announce, { discard: true });
        return true;
      }),

      /**
       * Moves a sign-in to another account of the same user, and accepts an invitation to this account. Fails with
       * `Forbidden` if the account is suspended, and with `Conflict` `account_limit` if the user would run too many free
       * accounts.
       */
      choose: Effect.fn("Members.choose")(function* (
        { id, chatId }: { readonly id: SignInId; readonly chatId: ChatId },
        name: string,
        requestId: string,
      ) {
        const found = calledBy(yield* store.findByChatId(chatId), name);
        if (found?.account.status === "suspended") {
          return yield* new Forbidden({ reason: "account_suspended" });
        }
        const at = yield* Clock.currentTimeMillis;
        if (found === undefined) return yield* new BadRequest({ problem: "not_found" });
        const outcome = yield* store.choose({
          signIn: id,
          chatId,
          account: found.account.name,
          requestId,
          at,
        });
        if (outcome === "unknown") return yield* new BadRequest({ problem: "not_found" });
        if (outcome === "account_limit") return yield* new Conflict({ reason: outcome });
        return found;
      }),

      /**
       * Returns a key with its account, which it acts for, and the owners with whose rights. Fails with `Forbidden`
       * `key_access` if none of them is left.
       */
      managing: Effect.fn("Members.managing")(function* (key: ApiKey, requestId: string) {
        const account = Option.getOrNull(yield* keys.findAccount(key.scope.account));
        if (account === null) return yield* new InvalidApiKey({ problem: "missing" });
        return { account, key, owners: yield* ownersOfKey(key), requestId } satisfies ManagingKey;
      }),

      /** Declines an invitation to an account. */
      decline: Effect.fn("Members.decline")(function* (
        { chatId }: { readonly chatId: ChatId },
        name: string,
        requestId: string,
      ) {
        const account = calledBy(yield* store.findByChatId(chatId), name)?.account.name;
        if (account === undefined) return yield* new BadRequest({ problem: "not_found" });
        const at = yield* Clock.currentTimeMillis;
        const actor = { type: "account", id: account, member: chatId } as const;
        const change = { type: "decline", chatId } as const;
        const outcome = yield* store.change({ actor, requestId, account, change, at });
        if (typeof outcome === "string") return yield* new BadRequest({ problem: "not_found" });
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(Members, Members.make).pipe(Layer.provide(KeyChanges.layer));
}
