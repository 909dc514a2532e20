/** Makes new accounts and scopes for each case, so that cases can share a store. */
import { AuditLog, ChatId, type DataScope, GameId, GuildId, type StoreUnavailable } from "@accountlink/core";
import type { AuditAction, WriteOrigin } from "@accountlink/core/audit";
import { type Account, KeyStore } from "@accountlink/core/keys";
import { type EraseUser, UserStore } from "@accountlink/core/users";
import { Effect } from "effect";
import { uniquePid, uniqueText } from "../mod.ts";

/** Chat users. Every scope uses the same ones, to detect leaks between scopes. */
export const ada = ChatId.make("10001");
export const bob = ChatId.make("10002");
export const cyd = ChatId.make("10003");
/**
 * As a number, this ID is greater than the other chat IDs here. As text, it is less. So it detects stores that sort IDs
 * as numbers.
 */
export const dan = ChatId.make("010004");

export const chess = GameId.make("1");
export const poker = GameId.make("2");
export const rummy = GameId.make("3");

/** Options of effects that run concurrently. */
export const atOnce = { concurrency: "unbounded" } as const;

export const origin: WriteOrigin = {
  actor: { type: "operator", id: "conformance" },
  requestId: "req_conformance",
};

export interface Scopes {
  readonly account: Account;
  readonly global: DataScope;
  readonly guild: DataScope;
}

/** Makes an account with a global scope and a guild scope, without storing them. */
export const newScopes = (): Scopes => {
  const account: Account = {
    name: uniqueText(),
    chatId: null,
    tier: "free",
    status: "active",
    operator: true,
  };
  const guildId = GuildId.make("700000000000000001");
  return {
    account,
    global: { kind: "global", pid: uniquePid(), account: account.name },
    guild: { kind: "guild", guildId, pid: uniquePid(), account: account.name },
  };
};

export const storeScopes = Effect.fnUntraced(function* ({ account, global, guild }: Scopes) {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount(account);
  yield* keys.ensureScope(account.name, global, global.pid);
  yield* keys.ensureScope(account.name, guild, guild.pid);
});

export const makeScopes: Effect.Effect<Scopes, StoreUnavailable, KeyStore> = Effect.suspend(() => {
  const scopes = newScopes();
  return Effect.as(storeScopes(scopes), scopes);
});

/** Erases a user, who has no link unless `parts` name its scope. */
export const eraseUser = (chatId: ChatId, parts: Partial<EraseUser> = {}) =>
  UserStore.use((users) =>
    users.erase({
      ...origin,
      chatId,
      at: 0,
      scopes: [],
      pseudonym: `erased:${uniqueText()}`,
      ownerHash: uniqueText(),
      ...parts,
    }),
  );

export type ScopeName = "global" | "guild";

export const newestOf = (account: string, action: AuditAction | null = null) =>
  Effect.map(
    AuditLog.use((log) => log.list(account, null, 10, { action, keyId: null })),
    ({ entries }) => entries,
  );
