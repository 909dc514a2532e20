/** The operations of `Tx` on accounts, scopes and keys. */
import type { KeyId, Pid } from "@accountlink/core";
import type { KnownAccount } from "@accountlink/core/records";
import type { Millis } from "@accountlink/core/timestamp";
import { lastUsePrecision } from "@accountlink/core/usage";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { tableOf } from "../statements/row.ts";
import {
  accountColumns,
  readAccounts,
  readKeyIds,
  rowOfAccount,
  scopeFields,
  withScope,
} from "./accounts.ts";

const readKnownScopes = tableOf("scopes", { ...scopeFields, status: Schema.String }).reader(
  ({ status, ...row }) => [row.pid, { ...withScope(row), isActive: status === "active" }] as const,
);

/** Revokes the keys of an account, locked in the order of their IDs, and returns the IDs. */
export const revokeKeys = (sql: SqlClient.SqlClient, account: string, at: Millis) => {
  const { forUpdate, isAnyOf } = dialectOf(sql);
  const ofAccount = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes WHERE account = ${account}`)}`;
  const active = sql`SELECT id FROM keys WHERE ${ofAccount} AND status <> 'revoked' ORDER BY id ${forUpdate}`;
  return readKeyIds(sql`
    UPDATE keys SET status = 'revoked', revoked_at = ${at} WHERE id ${isAnyOf(active)} RETURNING id`);
};

/** An account has its name as its ID. */
export const knownAccountsOn = (sql: SqlClient.SqlClient, isWrite: boolean) => {
  const { elements, forUpdate, isAmong, isRemote } = dialectOf(sql);
  return {
    isFull: () => false,

    accountId: (name: string) => Effect.succeed(name),

    account: (name: string) =>
      Effect.map(
        readAccounts(sql`
          SELECT ${accountColumns} FROM accounts WHERE name = ${name} ${isWrite ? forUpdate : sql``}`),
        ([found]) => found && { ...found, id: name },
      ),

    accounts: Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
      const named = sql`SELECT ${accountColumns} FROM accounts WHERE name ${isAmong(JSON.stringify(names))}`;
      const found = names.length === 0 ? [] : yield* readAccounts(named);
      return new Map(found.map((account) => [account.name, account]));
    }),

    putAccount: ({ id, ...account }: KnownAccount) => {
      const row = rowOfAccount({ displayName: null, ...account });
      return sql`UPDATE accounts SET ${sql.update(row, ["name"])} WHERE name = ${id}`;
    },

    scopes: (pids: ReadonlyArray<Pid>) =>
      Effect.map(
        readKnownScopes(sql`
          SELECT pid, account, guild_id, (SELECT status FROM accounts WHERE name = account) AS status FROM scopes
          WHERE pid ${isAmong(JSON.stringify(pids))}`),
        (found) => new Map(found),
      ),

    revokeKeys: ({ name }: KnownAccount, at: Millis) =>
      Effect.map(revokeKeys(sql, name, at), (revoked) => ({ revoked, isMore: false })),

    // The foreign keys of its records refuse an unknown one.
    knowsKey: () => Effect.succeed(true),

    keysOf: (account: string) =>
      readKeyIds(sql`
        SELECT keys.id FROM keys JOIN scopes ON scopes.pid = keys.pid WHERE scopes.account = ${account}`),

    noteUses: (uses: ReadonlyArray<{ readonly key: KeyId; readonly at: Millis }>) => {
      // `isUsed` lets Postgres find the keys by index. With the join alone, Postgres would scan all keys. On SQLite,
      // `isUsed` is left out, because with it, SQLite would read the list of uses again for each key.
      const isUsed = isRemote
        ? sql`keys.id ${isAmong(JSON.stringify(uses.map(({ key }) => key)))} AND`
        : sql``;
      return sql`
        UPDATE keys SET last_used_at = CAST(value ->> 1 AS BIGINT)
        FROM ${elements(JSON.stringify(uses.map(({ key, at }) => [key, at])))}
        WHERE keys.id = value ->> 0 AND ${isUsed} (
          last_used_at IS NULL OR last_used_at <= CAST(value ->> 1 AS BIGINT) - ${lastUsePrecision})`;
    },
  };
};
