import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, GuildId, Pid } from "../ids.ts";
import { KeyChanges } from "../keys/key_changes.ts";
import { type Account, generatedName, KeyStore, type Tier, type UpdateAccount } from "../keys/mod.ts";
import { ChatPlatform, GuildManagers } from "../platforms/mod.ts";
import { Secrets } from "../secrets/secrets.ts";
import { hasAccepted, isSuspendedOwner, lends, MemberStore } from "./member_store.ts";

/**
 * Manages accounts. Every change is written to the audit log and reaches the account's keys on every node within a
 * second. `setTier`, `suspend` and `restore` return whether anything changed, or `None` if the account does not exist.
 */
export class Accounts extends Context.Service<Accounts>()("@accountlink/core/Accounts", {
  make: Effect.gen(function* () {
    const store = yield* KeyStore;
    const members = yield* MemberStore;
    const secrets = yield* Secrets;
    const { announce } = yield* KeyChanges;

    const create = Effect.fnUntraced(function* (
      chatId: ChatId,
      name: string,
    ): Effect.fn.Return<Account, StoreUnavailable> {
      const ownerHash = yield* secrets.ownerHash(chatId);
      const account = yield* store.ensureAccount({ name, chatId, tier: "free" }, ownerHash);
      // If an operator created an account with this name, the account may belong to another user.
      return account.chatId === chatId ? account : yield* create(chatId, `${name}:another`);
    });

    const update = Effect.fn("Accounts.update")(function* (
      name: string,
      changes: UpdateAccount["update"],
      origin: WriteOrigin,
    ) {
      const at = yield* Clock.currentTimeMillis;
      const updated = yield* store.updateAccount({ ...origin, name, update: changes, at });
      if (Option.isNone(updated)) return Option.none();
      yield* Effect.forEach(updated.value.keys, announce, { discard: true });
      return Option.some(updated.value.changed);
    });

    return {
      /**
       * Returns the account that a chat user signs in to. A user without an account gets a free one; invitations do not
       * count, nor do suspended accounts that others own. The account of a user who was erased as an owner of a suspended
       * account is suspended.
       */
      ofChatUser: Effect.fn("Accounts.ofChatUser")(function* (chatId: ChatId) {
        const accepted = (yield* members.findByChatId(chatId)).filter(hasAccepted);
        const first = accepted.find((each) => each.account.status === "active" || isSuspendedOwner(each));
        return first?.account ?? (yield* create(chatId, generatedName(chatId)));
      }),

      setTier: (name: string, tier: Tier, origin: WriteOrigin) => update(name, { tier }, origin),

      /** Refuses all keys of the account until it is restored. */
      suspend: (name: string, origin: WriteOrigin) => update(name, { status: "suspended" }, origin),

      restore: (name: string, origin: WriteOrigin) => update(name, { status: "active" }, origin),
    };
  }),
}) {
  static readonly layer = Layer.effect(Accounts, Accounts.make).pipe(Layer.provide(KeyChanges.layer));
}

const freshFor = Duration.minutes(10);
const allowedFor = Duration.seconds(5);
const maxCached = 10_000;

/** Provides `GuildManagers` by the members who lend their guilds, see `lends`. The operator's own accounts may name every guild. @internal */
export const layerGuildManagers = Effect.gen(function* () {
  const accounts = yield* KeyStore;
  const members = yield* MemberStore;
  const platform = yield* ChatPlatform;
  const isManager = Effect.fnUntraced(function* ([guildId, chatId]: readonly [GuildId, ChatId]) {
    if (yield* platform.isManager(guildId, chatId)) return true;
    // While the bot is out of the guild, the platform says "no" of everybody.
    return (yield* platform.joinedGuilds([guildId])).has(guildId) ? false : null;
  });
  const managers = yield* Cache.makeWith(isManager, {
    capacity: maxCached,
    timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== null ? freshFor : Duration.zero),
  });
  type Question = readonly [account: string, pid: Pid, guildId: GuildId];
  const mayName = Effect.fnUntraced(function* ([account, pid, guildId]: Question) {
    for (const member of yield* members.list(account)) {
      if (lends(member, pid) && (yield* Cache.get(managers, [guildId, member.chatId]))) return true;
    }
    return Option.exists(yield* accounts.findAccount(account), ({ operator }) => operator);
  });
  // Saves lookups from reading the team. A refusal is not kept, because a manager may join the team.
  const allowed = yield* Cache.makeWith(mayName, {
    capacity: maxCached,
    timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value ? allowedFor : Duration.zero),
  });
  return GuildManagers.of({
    mayName: ({ account, pid }, guildId) => Cache.get(allowed, [account, pid, guildId]),
  });
}).pipe(Layer.effect(GuildManagers));
