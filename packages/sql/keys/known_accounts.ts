/** The operations of `Tx` on accounts, scopes and keys. */
import { type DataScope, guildOf, KeyId, type Pid, type ScopeTarget } from "@accountlink/core";
import type { Account, ScopeSettings } from "@accountlink/core/keys";
import type { KnownAccount } from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { lastUsePrecision } from "@accountlink/core/usage";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { batchedLookup } from "../statements/batching.ts";
import { dialectOf } from "../statements/dialect.ts";
import { tableOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { addPseudonym, moveEntries, releaseAccount, renameActors } from "./account_end.ts";
import {
  accountColumns,
  configuredColumns,
  configuredFields,
  readAccounts,
  readConfigured,
  rowOfAccount,
  rowOfSettings,
  withScope,
} from "./accounts.ts";

const readKnownScopes = tableOf("scopes", { ...configuredFields, status: Schema.String }).reader(
  ({ status, ...row }) => {
    const { scope, ...settings } = withScope(row);
    return [scope.pid, { scope, settings, isActive: status === "active" }] as const;
  },
);

const readUses = tableOf("keys", { id: KeyId, lastUsedAt: Schema.Int }).reader(
  ({ id, lastUsedAt }) => [id, lastUsedAt] as const,
);

const knownScopes = (sql: SqlClient.SqlClient) => sql`
  SELECT ${configuredColumns}, (SELECT status FROM accounts WHERE name = account) AS status FROM scopes`;

/** Finds scopes, one of them with others that are found in the same turn. */
export const batchedScopes = (parts: StoreParts) => {
  const { sql, isAmong } = parts;
  const several = (pids: ReadonlyArray<string>) => sql`${knownScopes(sql)} WHERE pid ${isAmong(pids)}`;
  const one = batchedLookup<[Pid]>(parts, {
    columns: ["pid"],
    one: (pid) => sql`${knownScopes(sql)} WHERE pid = ${pid}`,
    several: (pids) => several(pids.flat()),
  });
  return ([pid, ...others]: ReadonlyArray<Pid>) => {
    if (pid === undefined) return Effect.succeed(new Map());
    const found = readKnownScopes(others.length === 0 ? one(pid) : several([pid, ...others]));
    return Effect.map(found, (scopes) => new Map(scopes));
  };
};

/** An account has its name as its ID. */
export const withId = (account: Account): KnownAccount => ({ ...account, id: account.name });

export const knownAccountsOn = (sql: SqlClient.SqlClient, isWrite: boolean) => {
  const { elements, forUpdate, isAmong, isAnyOf, isRemote } = dialectOf(sql);
  const lock = isWrite ? forUpdate : sql``;
  return {
    isFull: () => false,

    accountId: (name: string) => Effect.succeed(name),

    account: (name: string) => {
      assertStorable([name]);
      return Effect.map(
        readAccounts(sql`SELECT ${accountColumns} FROM accounts WHERE name = ${name} ${lock}`),
        ([found]) => found && withId(found),
      );
    },

    accounts: Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
      const named = sql`SELECT ${accountColumns} FROM accounts WHERE name ${isAmong(names)}`;
      const found = names.length === 0 ? [] : yield* readAccounts(named);
      return new Map(found.map((account) => [account.name, account]));
    }),

    allAccounts: () => readAccounts(sql`SELECT ${accountColumns} FROM accounts ORDER BY name`),

    accountsNamed: (name: string) =>
      Effect.map(
        readAccounts(sql`
          SELECT ${accountColumns} FROM accounts WHERE name = ${name} OR display_name = ${name}
          ORDER BY name ${lock}`),
        (found) => found.map(withId),
      ),

    addAccount: (account: Account) =>
      Effect.as(
        sql`INSERT INTO accounts ${sql.insert(rowOfAccount({ displayName: null, ...account }))}`,
        withId(account),
      ),

    putAccount: ({ id, ...account }: KnownAccount) => {
      const row = rowOfAccount({ displayName: null, ...account });
      return sql`UPDATE accounts SET ${sql.update(row, ["name"])} WHERE name = ${id}`;
    },

    releaseAccount: (account: KnownAccount, pseudonym: string) => releaseAccount(sql, account, pseudonym),

    renameEntries: Effect.fnUntraced(function* (account: KnownAccount, pseudonym: string) {
      yield* addPseudonym(sql, account, pseudonym);
      return (
        (yield* moveEntries(sql, account.name, pseudonym)) ||
        (yield* renameActors(sql, account.name, pseudonym))
      );
    }),

    endSignIns: ({ name }: KnownAccount) =>
      Effect.as(
        sql`
          DELETE FROM site_sign_ins
          WHERE chat_id ${isAnyOf(sql`SELECT chat_id FROM members WHERE account = ${name}`)} AND account = ${name}`,
        false,
      ),

    // The foreign keys of its records refuse an unknown one.
    knowsKey: () => Effect.succeed(true),

    scopes: Effect.fnUntraced(function* (pids: ReadonlyArray<Pid>) {
      const named = sql`${knownScopes(sql)} WHERE pid ${isAmong(pids)}`;
      return new Map(pids.length === 0 ? [] : yield* readKnownScopes(named));
    }),

    scope: (pid: Pid) =>
      Effect.map(
        readConfigured(sql`SELECT ${configuredColumns} FROM scopes WHERE pid = ${pid} ${lock}`),
        ([found]) => found,
      ),

    scopesOf: (account: string, target?: ScopeTarget) => {
      assertStorable([account]);
      const rest =
        target === undefined
          ? sql`ORDER BY pid ${lock}`
          : sql`AND COALESCE(guild_id, '') = ${guildOf(target) ?? ""}`;
      return readConfigured(sql`SELECT ${configuredColumns} FROM scopes WHERE account = ${account} ${rest}`);
    },

    addScope: (scope: DataScope) => sql`
      INSERT INTO scopes (pid, account, guild_id) VALUES (${scope.pid}, ${scope.account}, ${guildOf(scope)})`,

    putSettings: (pid: Pid, settings: ScopeSettings) =>
      sql`UPDATE scopes SET ${sql.update(rowOfSettings(settings))} WHERE pid = ${pid}`,

    // It goes with the row of the key.
    forgetUse: () => Effect.void,

    lastUses: (keys: ReadonlyArray<KeyId>) =>
      Effect.map(
        readUses(sql`
          SELECT id, last_used_at FROM keys WHERE last_used_at IS NOT NULL AND id ${isAmong(keys)}`),
        (found) => new Map(found),
      ),

    noteUses: (uses: ReadonlyArray<{ readonly key: KeyId; readonly at: Millis }>) => {
      // `isUsed` lets Postgres find the keys by index. With the join alone, Postgres would scan all keys. On SQLite,
      // `isUsed` is left out, because with it, SQLite would read the list of uses again for each key.
      const isUsed = isRemote ? sql`keys.id ${isAmong(uses.map(({ key }) => key))} AND` : sql``;
      return sql`
        UPDATE keys SET last_used_at = CAST(value ->> 1 AS BIGINT)
        FROM ${elements(JSON.stringify(uses.map(({ key, at }) => [key, at])))}
        WHERE keys.id = value ->> 0 AND ${isUsed} (
          last_used_at IS NULL OR last_used_at <= CAST(value ->> 1 AS BIGINT) - ${lastUsePrecision})`;
    },
  };
};
