import { Clock, Context, Effect, Layer, Option, Schema } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { ScopeTarget } from "../data_scope.ts";
import { BadRequest, Conflict, InvalidParameter } from "../errors.ts";
import { type ChatId, KeyId, type Pid } from "../ids.ts";
import { Limits } from "../limits/quota.ts";
import { RequestLimits } from "../limits/request_limits.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { dayMs } from "../timestamp.ts";
import type { Account, ApiKey, KeyUpdate } from "./api_key.ts";
import { ApiKeys } from "./api_keys.ts";
import { KeyStore } from "./key_store.ts";

/** The signed-in owner, with the id of their request. */
export interface KeyOwner {
  readonly account: Account;
  readonly chatId: ChatId;
  readonly requestId: string;
  /** The scopes of which the member sees something; null for all of the account. */
  readonly scopes: ReadonlyArray<Pid> | null;
}

/** A key with access `manage`, and the id of its request. It acts for its account, within its own scope. */
export interface ManagingKey {
  readonly account: Account;
  readonly key: ApiKey;
  /** The owners with whose rights it acts; null for a key of the operator's own account, which has all rights. */
  readonly owners: ReadonlyArray<ChatId> | null;
  readonly requestId: string;
}

/** Who manages communities of an account: a signed-in member, or a key. */
export type Manager = KeyOwner | ManagingKey;

/**
 * Returns whether a scope of the account exists for a manager: for a key its own alone, and for a member of some
 * communities those. @internal
 */
export const reaches = (manager: Manager, pid: Pid): boolean =>
  "key" in manager ? manager.key.scope.pid === pid : (manager.scopes?.includes(pid) ?? true);

export interface NewOwnedKey
  extends Partial<Pick<ApiKey, "access" | "allowIps" | "denyIps" | "redirectOrigins" | "expiresAt">> {
  readonly name: string;
  readonly target: ScopeTarget;
}

export type OwnedKeyUpdate = Omit<KeyUpdate, "tier" | "kind" | "limits" | "madeBy">;

/** How long revoked keys stay listed, in milliseconds. */
const revokedListed = 30 * dayMs;

const keyRate = () => new Conflict({ reason: "key_rate" });

/**
 * Manages the keys of the signed-in owner. Changing a revoked key fails with a `Conflict` whose
 * reason is `key_revoked`.
 *
 * @example
 * ```ts
 * import { Accounts, ChatId } from "@accountlink/core";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const program = Effect.gen(function* () {
 *   const keys = yield* OwnedKeys;
 *   const chatId = ChatId.make("100001");
 *   const account = yield* (yield* Accounts).ofChatUser(chatId);
 *   const owner = { account, chatId, requestId: "req_1", scopes: null };
 *   yield* keys.create(owner, { name: "bot", target: { kind: "global" } });
 *   return yield* keys.plan(account);
 * });
 * await world.run(program); // { used: 1, allowed: 2 }
 * await world.close();
 * ```
 */
export class OwnedKeys extends Context.Service<OwnedKeys>()("@accountlink/core/OwnedKeys", {
  make: Effect.gen(function* () {
    const keys = yield* ApiKeys;
    const store = yield* KeyStore;
    const guard = yield* GuildGuard;
    const limits = yield* Limits;
    const requests = yield* RequestLimits;

    const find = Effect.fn("OwnedKeys.find")(function* (
      { account: { name }, scopes }: Pick<KeyOwner, "account" | "scopes">,
      id: string,
    ) {
      const now = yield* Clock.currentTimeMillis;
      const found =
        isKeyId(id) && scopes === null ? Option.getOrNull(yield* store.findDetails(id, now)) : null;
      return found?.scope.account === name ? found : yield* new BadRequest({ problem: "not_found" });
    });

    const findLiving = Effect.fnUntraced(function* (owner: KeyOwner, id: string) {
      const key = yield* find(owner, id);
      return key.status === "revoked" ? yield* new Conflict({ reason: "key_revoked" }) : key;
    });

    const plan = Effect.fn("OwnedKeys.plan")(function* ({ name, tier }: Account) {
      return { used: yield* store.countKeys(name), allowed: limits[tier].keys || null };
    });

    return {
      /** @param id any text, such as a value from a URL; text that is not a key id finds no key */
      find,

      /**
       * Returns keys newest first, including keys revoked within 30 days. Members of some communities see no keys of the
       * account.
       */
      list: Effect.fn("OwnedKeys.list")(function* ({ account: { name }, scopes }: KeyOwner) {
        if (scopes !== null) return [];
        const now = yield* Clock.currentTimeMillis;
        const listed = yield* store.listKeys(name, now);
        return listed
          .filter(({ revokedAt }) => revokedAt === null || now - revokedAt < revokedListed)
          .toReversed();
      }),

      /** Returns whether the account has keys, revoked ones too, without reading all. */
      hasAny: ({ account: { name }, scopes }: KeyOwner) =>
        scopes === null ? store.hasKeys(name) : Effect.succeed(false),

      /**
       * Returns how many keys of an account count against its plan, and how many the plan allows; null for any number.
       */
      plan,

      /**
       * Creates a key. If the target is a guild, the bot must be in the guild, and the owner must have the right to
       * manage the guild. Fails with `InvalidParameter` for a key that has ended, with `Conflict` `key_limit` if the plan
       * allows no more keys, and with `key_rate` if the account or the owner made 20 keys this UTC day. The owner's number
       * outlives an account that was deleted.
       */
      create: Effect.fn("OwnedKeys.create")(function* (owner: KeyOwner, key: NewOwnedKey) {
        const { account, chatId } = owner;
        const end = key.expiresAt ?? Infinity;
        if (end <= (yield* Clock.currentTimeMillis)) {
          return yield* InvalidParameter.one("expiresAt", "expected a time in the future, or null");
        }
        if (key.target.kind === "guild") yield* guard.requireManager(key.target.guildId, [chatId]);
        // Before `create` opens a list, which would stay without a key.
        const { used, allowed } = yield* plan(account);
        if (allowed !== null && used >= allowed) return yield* new Conflict({ reason: "key_limit" });
        yield* Effect.catchTag(requests.admitNewKey(chatId), "RateLimited", keyRate);
        return yield* keys.create({ ...key, account }, originOf(owner));
      }),

      update: Effect.fn("OwnedKeys.update")(function* (owner: KeyOwner, id: string, update: OwnedKeyUpdate) {
        const key = yield* findLiving(owner, id);
        const isGiven = update.access === "manage" && key.access !== "manage";
        yield* keys.update(key.id, { ...update, ...(isGiven && { madeBy: owner.chatId }) }, originOf(owner));
        return yield* find(owner, id);
      }),

      revoke: Effect.fn("OwnedKeys.revoke")(function* (owner: KeyOwner, id: string) {
        const key = yield* findLiving(owner, id);
        yield* keys.revoke(key.id, originOf(owner));
        return yield* find(owner, id);
      }),

      /** @param graceSeconds how long earlier secrets stay accepted */
      rotate: Effect.fn("OwnedKeys.rotate")(function* (owner: KeyOwner, id: string, graceSeconds: number) {
        const key = yield* findLiving(owner, id);
        const token = yield* keys.rotate(key.id, graceSeconds, originOf(owner));
        if (Option.isNone(token)) return yield* new Conflict({ reason: "key_revoked" });
        return { token: token.value, key: yield* find(owner, id) };
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnedKeys, OwnedKeys.make);
}

const isKeyId = Schema.is(KeyId);

/** Returns the `WriteOrigin` of a change: the member or key that makes it, and the id of the request. @internal */
export const originOf = (manager: Manager): WriteOrigin => ({
  actor:
    "key" in manager
      ? { type: "key", id: manager.key.id }
      : { type: "account", id: manager.account.name, member: manager.chatId },
  requestId: manager.requestId,
});
