/**
 * Accounts, scopes and keys that no other case shares, so that cases run side by side on a store that was used before.
 */
import {
  type Account,
  type ApiKey,
  ChatId,
  type DataScope,
  GameId,
  GuildId,
  KeyId,
  KeyStore,
  Pid,
  type StoreUnavailable,
  type WriteOrigin,
} from "@accountlink/core";
import { Effect } from "effect";

/** Chat users. They are the same in every scope, which none of them may notice. */
export const ada = ChatId.make("10001");
export const bob = ChatId.make("10002");
export const cyd = ChatId.make("10003");

/** Game users. */
export const chess = GameId.make("1");
export const poker = GameId.make("2");
export const rummy = GameId.make("3");

/** On whose behalf the cases write. */
export const origin: WriteOrigin = {
  actor: { type: "operator", id: "conformance" },
  requestId: "req_conformance",
};

/** One account with two scopes. */
export interface World {
  readonly account: Account;
  readonly global: DataScope;
  readonly guild: DataScope;
}

/** A text that was never used before. */
export const uniqueText = (): string => crypto.randomUUID().replaceAll("-", "");

/** A chat user whom no other case knows. */
export const uniqueChatId = (): ChatId => ChatId.make(BigInt(`0x${uniqueText().slice(0, 24)}`).toString());

export const uniquePid = (): Pid => Pid.make(`pid_${uniqueText()}`);

export const uniqueKeyId = (): KeyId => KeyId.make(uniqueText().slice(0, 12));

/** A new account with a global scope and one of a guild, which the store does not know yet. */
export const newWorld = (): World => {
  const account: Account = { name: uniqueText(), chatId: null, tier: "free" };
  const guildId = GuildId.make("700000000000000001");
  return {
    account,
    global: { kind: "global", pid: uniquePid(), account: account.name },
    guild: { kind: "guild", guildId, pid: uniquePid(), account: account.name },
  };
};

/** Makes the account and its scopes known to the store. */
export const storeWorld = Effect.fnUntraced(function* ({ account, global, guild }: World) {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount(account);
  yield* keys.ensureScope(account.name, global, global.pid);
  yield* keys.ensureScope(account.name, guild, guild.pid);
});

/** A new account with its scopes, in the store. */
export const makeWorld: Effect.Effect<World, StoreUnavailable, KeyStore> = Effect.suspend(() => {
  const world = newWorld();
  return Effect.as(storeWorld(world), world);
});

/** A key of the scope, which the store does not know yet. */
export const makeKey = (scope: DataScope, parts: Partial<ApiKey> = {}): ApiKey => ({
  id: uniqueKeyId(),
  name: "Test key",
  scope,
  tier: "free",
  kind: "normal",
  status: "active",
  expiresAt: null,
  limits: {},
  allowIps: [],
  denyIps: [],
  redirectOrigins: [],
  createdAt: 0,
  ...parts,
});
