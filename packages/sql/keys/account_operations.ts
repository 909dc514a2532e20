/** The operations of `KeyStore` on accounts and their scopes. */
import { guildOf, type ScopeTarget } from "@accountlink/core";
import {
  type AccountStatus,
  changedSettings,
  type KeyStore,
  type NewAccount,
  scopeOrder,
  type UpdateAccount,
  type UpdateScope,
} from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Clock, Effect, Option } from "effect";
import type { SqlClient } from "effect/sql";
import { insertEntry } from "../audit/audit_entry.ts";
import { dialectOf } from "../statements/dialect.ts";
import { storeOperation } from "../statements/store_operation.ts";
import {
  accountColumns,
  configuredColumns,
  readAccounts,
  readConfigured,
  readKeyIds,
  readScopes,
} from "./key_row.ts";

type AccountOperations = Pick<
  KeyStore["Service"],
  | "ensureAccount"
  | "findAccount"
  | "listAccounts"
  | "updateAccount"
  | "ensureScope"
  | "findScope"
  | "findScopeByPid"
  | "listScopes"
  | "updateSettings"
>;

export const accountOperations = (sql: SqlClient.SqlClient): AccountOperations => {
  const ensureAccount = ensureAccountOn(sql);
  const updateAccount = updateAccountOn(sql);
  const updateSettings = updateSettingsOn(sql);
  const findAccount = (name: string) =>
    sql`SELECT ${accountColumns} FROM accounts WHERE name = ${name}`.pipe(Effect.flatMap(readAccounts));

  const findScope = (account: string, target: ScopeTarget) =>
    sql`
      SELECT pid, account, guild_id FROM scopes
      WHERE account = ${account} AND COALESCE(guild_id, '') = ${guildOf(target) ?? ""}`.pipe(
      Effect.flatMap(readScopes),
    );

  return {
    ensureAccount: (account, ownerHash) =>
      ensureAccount(account, ownerHash ?? null).pipe(
        Effect.andThen(findAccount(account.name)),
        Effect.map(([stored = { ...account, status: "active" as const }]) => stored),
        storeOperation("KeyStore.ensureAccount", account.name),
      ),

    findAccount: (name) =>
      findAccount(name).pipe(Effect.map(Arr.head), storeOperation("KeyStore.findAccount", name)),

    listAccounts: () =>
      sql`SELECT ${accountColumns} FROM accounts ORDER BY name`.pipe(
        Effect.flatMap(readAccounts),
        storeOperation("KeyStore.listAccounts"),
      ),

    updateAccount: (write) => updateAccount(write).pipe(storeOperation("KeyStore.updateAccount", write.name)),

    ensureScope: (account, target, pid) =>
      sql`
        INSERT INTO scopes (pid, account, guild_id) VALUES (${pid}, ${account}, ${guildOf(target)})
        ON CONFLICT (account, COALESCE(guild_id, '')) DO NOTHING`.pipe(
        Effect.andThen(findScope(account, target)),
        Effect.map(([scope = { ...target, pid, account }]) => scope),
        storeOperation("KeyStore.ensureScope", account),
      ),

    findScope: (account, target) =>
      findScope(account, target).pipe(Effect.map(Arr.head), storeOperation("KeyStore.findScope", account)),

    findScopeByPid: (pid) =>
      sql`SELECT ${configuredColumns} FROM scopes WHERE pid = ${pid}`.pipe(
        Effect.flatMap(readConfigured),
        Effect.map(Arr.head),
        storeOperation("KeyStore.findScopeByPid"),
      ),

    listScopes: (account) =>
      sql`SELECT ${configuredColumns} FROM scopes WHERE account = ${account}`.pipe(
        Effect.flatMap(readConfigured),
        Effect.map((scopes) => scopes.toSorted(scopeOrder)),
        storeOperation("KeyStore.listScopes", account),
      ),

    updateSettings: (write) =>
      updateSettings(write).pipe(
        storeOperation(
          "KeyStore.updateSettings",
          ...Object.values(write.update).filter((text) => text !== null),
        ),
      ),
  };
};

/** Inserts an account unless it exists, with its chat user as owner. */
const ensureAccountOn = (sql: SqlClient.SqlClient) => {
  const insert = ({ name, chatId, tier }: NewAccount, ownerHash: string | null) => {
    const isSuspended = sql`EXISTS (SELECT 1 FROM suspended_owners WHERE hash = ${ownerHash})`;
    return sql`
      INSERT INTO accounts (name, chat_id, tier, status)
      VALUES (${name}, ${chatId}, ${tier}, CASE WHEN ${isSuspended} THEN 'suspended' ELSE 'active' END)
      ON CONFLICT (name) DO NOTHING`;
  };
  // From here on, the status of the account keeps the suspension, so that an operator can restore the account.
  const forgetHash = ({ name, chatId }: NewAccount, ownerHash: string) => sql`
    DELETE FROM suspended_owners WHERE hash = ${ownerHash} AND EXISTS (
      SELECT 1 FROM accounts WHERE name = ${name} AND chat_id = ${chatId} AND status = 'suspended')`;
  // Nodes of older releases inserted accounts without members. This statement also adds the owner to such an account.
  const insertOwner = ({ name }: NewAccount, now: Millis) =>
    sql`
      INSERT INTO members (account, chat_id, role, since, chosen_at)
      SELECT name, chat_id, 'owner', ${now}, ${now} FROM accounts WHERE name = ${name} AND chat_id IS NOT NULL
      ON CONFLICT (account, chat_id) DO NOTHING`;
  const insertOwned = Effect.fnUntraced(function* (account: NewAccount, ownerHash: string | null) {
    yield* insert(account, ownerHash);
    yield* insertOwner(account, yield* Clock.currentTimeMillis);
    if (ownerHash !== null) yield* forgetHash(account, ownerHash);
  }, sql.withTransaction);
  return (account: NewAccount, ownerHash: string | null) =>
    account.chatId === null ? insert(account, null) : insertOwned(account, ownerHash);
};

const updateAccountOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* ({ name, update, actor, requestId, at }: UpdateAccount) {
    // Lock the account, so that no key is created before the end of this transaction: a new key copies the status of
    // its account.
    const [account] = yield* Effect.flatMap(
      sql`SELECT ${accountColumns} FROM accounts WHERE name = ${name} ${forUpdate}`,
      readAccounts,
    );
    if (account === undefined) return Option.none();
    const keys = yield* Effect.flatMap(updateKeysOf(sql, name, update), readKeyIds);
    const isSame = "tier" in update ? account.tier === update.tier : account.status === update.status;
    if (isSame && keys.length === 0) return Option.some({ changed: false, keys });
    yield* sql`UPDATE accounts SET ${sql.update({ ...update })} WHERE name = ${name}`;
    const details = { ...update, keys: keys.length };
    yield* insertEntry(sql, {
      actor,
      requestId,
      at,
      account: name,
      pid: null,
      action: "account.updated",
      details,
    });
    return Option.some({ changed: true, keys });
  }, sql.withTransaction);
};

const updateSettingsOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* ({ pid, update, ...origin }: UpdateScope) {
    const [found] = yield* Effect.flatMap(
      sql`SELECT ${configuredColumns} FROM scopes WHERE pid = ${pid} ${forUpdate}`,
      readConfigured,
    );
    if (found === undefined)
      return yield* Effect.die(new Error(`Cannot change the settings of scope "${pid}"`));
    const details = changedSettings(found.settings, update);
    if (details === null) return found.settings;
    const { displayName, supportUrl, doneText } = { ...found.settings, ...details };
    yield* sql`
      UPDATE scopes SET display_name = ${displayName}, support_url = ${supportUrl}, done_text = ${doneText}
      WHERE pid = ${pid}`;
    yield* insertEntry(sql, {
      ...origin,
      account: found.scope.account,
      pid,
      action: "account.updated",
      details,
    });
    return { displayName, supportUrl, doneText };
  }, sql.withTransaction);
};

/** Updates the keys of an account, locked in the order of their IDs. Returns the IDs of the changed keys. */
const updateKeysOf = (sql: SqlClient.SqlClient, account: string, update: UpdateAccount["update"]) => {
  const { isAnyOf, forUpdate } = dialectOf(sql);
  const [values, differs] =
    "tier" in update
      ? [{ tier: update.tier }, sql`kind = 'normal' AND tier <> ${update.tier}`]
      : [{ suspended: suspensionOf(update) }, sql`suspended <> ${suspensionOf(update)}`];
  const ofAccount = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes WHERE account = ${account}`)}`;
  return sql`
    UPDATE keys SET ${sql.update(values)} WHERE id ${isAnyOf(sql`
      SELECT id FROM keys WHERE ${ofAccount} AND status <> 'revoked' AND ${differs} ORDER BY id ${forUpdate}`)}
    RETURNING id`;
};

const suspensionOf = ({ status }: { readonly status: AccountStatus }): 0 | 1 =>
  status === "suspended" ? 1 : 0;
