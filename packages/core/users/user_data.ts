import { Array as Arr, Clock, Context, Effect, Layer, Option, Stream } from "effect";
import { SecureRandom } from "effect/crypto";
import {
  hasAccepted,
  isInCharge,
  isSuspendedOwner,
  type Member,
  type MemberRole,
  MemberStore,
  type Membership,
} from "../accounts/member_store.ts";
import { BlockStore } from "../admission/block_store.ts";
import type { Actor, AuditEntry, WriteOrigin } from "../audit/audit.ts";
import { erasedMark } from "../erased_mark.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { KeyChanges } from "../keys/key_changes.ts";
import { type Account, type KeyDetails, KeyStore } from "../keys/mod.ts";
import { forEachLimited } from "../limited_loops.ts";
import { isLinked, LinkEvents, LinkStore } from "../links/mod.ts";
import { MemberSync, RolePlanStore } from "../roles/mod.ts";
import { randomToken, Secrets } from "../secrets/mod.ts";
import type { Millis } from "../timestamp.ts";
import { TurnAccount } from "../turns/mod.ts";
import { type ScopedRecord, type UserErased, UserStore } from "./user_store.ts";

/** What an erasure does to an account in which the user has a role. */
export interface ErasedAccount {
  readonly account: Account;
  readonly role: MemberRole;
  /** Whether the account is the user's own, so that it loses its name and its keys. */
  readonly isOwn: boolean;
  /** Whether the user is the last owner or admin, so that its keys are revoked, and its plans and webhooks paused. */
  readonly closes: boolean;
  /** The number of links of others in the communities of the account, at most `mostCounted`. These links stay. */
  readonly links: number;
  /** The keys that the erasure revokes. */
  readonly keys: ReadonlyArray<KeyDetails>;
  /** The members who are left, owners first. */
  readonly left: ReadonlyArray<Member>;
}

/** How many audit entries a page has at most. */
const entriesOfPage = 500;

/** More links of an account are not counted, because a user waits for the answer. @internal */
export const mostCounted = 10_000;

/** Data shown to a user before an erasure. */
export interface ErasurePreview {
  readonly records: number;
  /** The scopes in which the user is linked. */
  readonly pids: ReadonlyArray<Pid>;
  /** The keys that the erasure revokes. */
  readonly keys: ReadonlyArray<KeyDetails>;
  /** Whether the user owns a suspended account, so that the suspension outlives the erasure. */
  readonly staysSuspended: boolean;
  /** Whether a community blocks the user, so that a hash of the chat ID outlives the erasure. */
  readonly staysBlocked: boolean;
  /** The accounts in which the user has a role, the last chosen one first. */
  readonly accounts: ReadonlyArray<ErasedAccount>;
}

/**
 * Finds and erases the data of a chat user in every scope.
 *
 * @example
 * ```ts
 * import { ChatId } from "@accountlink/core";
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * const program = Effect.gen(function* () {
 *   const users = yield* UserData;
 *   const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
 *   const { records } = yield* users.erase(ChatId.make("100001"), origin);
 *   return [records, (yield* users.find(ChatId.make("100001"))).records.length];
 * });
 * await world.run(program); // [1, 0]
 * await world.close();
 * ```
 */
export class UserData extends Context.Service<UserData>()("@accountlink/core/UserData", {
  make: Effect.gen(function* () {
    const store = yield* UserStore;
    const keyStore = yield* KeyStore;
    const blocks = yield* BlockStore;
    const memberStore = yield* MemberStore;
    const linkStore = yield* LinkStore;
    const { announce } = yield* KeyChanges;
    const events = yield* LinkEvents;
    const random = yield* SecureRandom.SecureRandom;
    const secrets = yield* Secrets;
    const releaseRoles = yield* makeReleaseRoles;

    const erase = Effect.fn("UserData.erase")(function* (
      chatId: ChatId,
      origin: WriteOrigin,
    ): Effect.fn.Return<UserErased, StoreUnavailable> {
      const records = yield* store.findRecords(chatId);
      yield* releaseRoles(chatId, records);
      const { actor } = origin;
      const isOwn = actor.type === "user" && actor.id === chatId;
      const erasing = store.erase({
        ...origin,
        actor: isOwn ? ({ ...actor, id: erasedMark } as Actor) : actor,
        chatId,
        at: yield* Clock.currentTimeMillis,
        scopes: records.map(({ scope }) => scope.pid),
        pseudonym: `erased:${yield* randomToken(random)}`,
        ownerHash: yield* secrets.ownerHash(chatId),
      });
      const erased = yield* Effect.provideService(erasing, TurnAccount, `user ${chatId}`);
      // A link was created in another scope meanwhile, so nothing was erased. Start again to include that scope.
      if (Option.isNone(erased)) return yield* erase(chatId, origin);
      const { revokedKeys } = erased.value;
      yield* Effect.forEach(revokedKeys, announce);
      yield* Effect.forEach(records, ({ scope, record }) =>
        events.announce("linkChanged", { scope, chatId, gameId: null, previousGameId: record.gameId }),
      );
      return erased.value;
    });

    const erasureOf = Effect.fnUntraced(function* (
      { account, role, scopes, chosenAt }: Membership,
      chatId: ChatId,
      linkedPids: ReadonlyArray<Pid>,
      now: Millis,
    ) {
      const members = yield* memberStore.list(account.name);
      const left = members.filter((member) => member.chatId !== chatId && hasAccepted(member));
      const isOwn = account.chatId === chatId;
      const closes = isInCharge({ role, chosenAt }) && !left.some(isInCharge);
      const keys = isOwn || closes ? yield* keyStore.listKeys(account.name, now) : [];
      let links = 0;
      for (const { scope } of yield* keyStore.listScopes(account.name)) {
        if (links >= mostCounted) break;
        if (scopes !== null && !scopes.includes(scope.pid)) continue;
        const own = Number(linkedPids.includes(scope.pid));
        links += (yield* linkStore.countLinks(scope.pid, { enough: mostCounted - links + own })) - own;
      }
      const revoked = keys.filter(({ status }) => status !== "revoked");
      return { account, role, isOwn, closes, links, keys: revoked, left } satisfies ErasedAccount;
    });

    const findMost = Effect.fn("UserData.findMost")(function* (chatId: ChatId) {
      const found = yield* store.find(chatId);
      const now = yield* Clock.currentTimeMillis;
      const keys = yield* Effect.forEach(found.accounts, ({ name }) => keyStore.listKeys(name, now));
      return { ...found, keys: keys.flat() };
    });

    const entriesAfter = (chatId: ChatId, after: AuditEntry | null) =>
      store.entries(chatId, after, entriesOfPage);

    const entriesOf = (chatId: ChatId) =>
      Stream.paginate(null as AuditEntry | null, (after) =>
        Effect.map(entriesAfter(chatId, after), (page) => [page, Arr.last(page)] as const),
      );

    return {
      find: Effect.fn("UserData.find")(function* (chatId: ChatId) {
        const found = yield* findMost(chatId);
        return { ...found, entries: yield* Stream.runCollect(entriesOf(chatId)) };
      }),

      /** Returns the data of a chat user as `find` does, without the audit entries. @internal */
      findMost,

      /** Reads a page of the audit entries that name a chat user, by `UserStore.entries`. @internal */
      entriesAfter,

      /** Returns what the user would lose, without reading the audit log. */
      previewErasure: Effect.fn("UserData.previewErasure")(function* (chatId: ChatId) {
        const records = yield* store.findRecords(chatId);
        const now = yield* Clock.currentTimeMillis;
        const found = yield* memberStore.findByChatId(chatId);
        const pids = records.filter(({ record }) => isLinked(record)).map(({ scope }) => scope.pid);
        const accounts = yield* Effect.forEach(found.filter(hasAccepted), (membership) =>
          erasureOf(membership, chatId, pids, now),
        );
        return {
          records: records.length,
          pids,
          keys: accounts.flatMap(({ keys }) => keys),
          staysSuspended: found.some(isSuspendedOwner),
          staysBlocked: (yield* blocks.ofUser(chatId)).length > 0,
          accounts,
        } satisfies ErasurePreview;
      }),

      /**
       * Erases a user by `UserStore.erase`. The erasure revokes the keys of the user's accounts, and every node refuses
       * these keys within a second. If users erase themselves, the audit entries of the erasure name `[erased]` as the
       * actor.
       *
       * The roles of role plans are removed first. If that takes longer than five seconds, `RoleCouriers` remove them
       * later.
       */
      erase,
    };
  }),
}) {
  static readonly layer = Layer.effect(UserData, UserData.make).pipe(
    Layer.provide([KeyChanges.layer, LinkEvents.layer]),
  );
}

/**
 * Makes a function that removes the roles of role plans from a user before the erasure. Without `MemberSync`, as
 * on the command line, the function does nothing, and `RoleCouriers` remove the roles later.
 */
const makeReleaseRoles = Effect.gen(function* () {
  const sync = Option.getOrNull(yield* Effect.serviceOption(MemberSync));
  const plans = yield* RolePlanStore;
  return (chatId: ChatId, records: ReadonlyArray<ScopedRecord>) =>
    Effect.gen(function* () {
      if (sync === null) return;
      const all = yield* Effect.forEach(records, ({ scope }) => plans.list(scope.pid));
      const active = all.flat().filter(({ state }) => state === "on");
      yield* forEachLimited(active, 4, (plan) => Effect.ignore(sync.release(plan, chatId)));
    }).pipe(Effect.timeout("5 seconds"), Effect.ignore);
});
