/** The operations of `KeyStore` on accounts and their scopes. */
import { ChatId, type DataScope, GuildId, guildOf, KeyId, Pid, type ScopeTarget } from "@accountlink/core";
import { changeDetails } from "@accountlink/core/audit";
import {
  type Account,
  type AccountStatus,
  type ConfiguredScope,
  changedSettings,
  isOperators,
  type KeyStore,
  type NewAccount,
  scopeOrder,
  shownName,
  type Tier,
  type UpdateAccount,
} from "@accountlink/core/keys";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Clock, Effect, Option, Schema } from "effect";
import { insertEntry } from "../journal/records.ts";
import { batchedLookup } from "../statements/batching.ts";
import { columnReader, literalsOf, OptionalInt, tableOf, type ValuesOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";

export const accountOperations = (parts: StoreParts) => {
  const { sql, operation, transaction, forUpdate, isAmong, isAnyOf, onlyOne } = parts;

  const findAccount = (name: string) =>
    readAccounts(sql`SELECT ${accountColumns} FROM accounts WHERE name = ${name}`);

  const configuredScopes = sql`SELECT ${configuredColumns} FROM scopes`;
  const scopeRows = batchedLookup<[Pid]>(parts, {
    columns: ["pid"],
    one: (pid) => sql`${configuredScopes} WHERE pid = ${pid}`,
    several: (pids) => sql`${configuredScopes} WHERE pid ${isAmong(JSON.stringify(pids.flat()))}`,
  });

  const findScope = (account: string, target: ScopeTarget) =>
    readScopes(sql`
      SELECT pid, account, guild_id FROM scopes
      WHERE account = ${account} AND COALESCE(guild_id, '') = ${guildOf(target) ?? ""}`);

  const insertAccount = (account: NewAccount, ownerHash: string | null) => {
    const { name, chatId, tier } = account;
    return sql`
      INSERT INTO accounts (name, chat_id, tier, operator, status)
      VALUES (${name}, ${chatId}, ${tier}, ${isOperators(account) ? 1 : 0}, CASE
        WHEN EXISTS (SELECT 1 FROM suspended_owners WHERE hash = ${ownerHash}) THEN 'suspended' ELSE 'active' END)
      ON CONFLICT (name) DO NOTHING`;
  };

  const insertOwned = Effect.fnUntraced(function* (account: NewAccount, ownerHash: string | null) {
    const { name, chatId } = account;
    const now = yield* Clock.currentTimeMillis;
    yield* insertAccount(account, ownerHash);
    yield* sql`
      INSERT INTO members (account, chat_id, role, since, chosen_at)
      SELECT name, chat_id, 'owner', ${now}, ${now} FROM accounts WHERE name = ${name} AND chat_id IS NOT NULL
      ON CONFLICT (account, chat_id) DO NOTHING`;
    // From here on, the status of the account keeps the suspension, so that an operator can restore the account.
    yield* sql`
      DELETE FROM suspended_owners WHERE hash = ${ownerHash} AND EXISTS (
        SELECT 1 FROM accounts WHERE name = ${name} AND chat_id = ${chatId} AND status = 'suspended')`;
  }, sql.withTransaction);

  /** Updates the keys of an account, locked in the order of their IDs. Returns the IDs of the changed keys. */
  const updateKeys = (account: string, update: UpdateAccount["update"]) => {
    const suspended = "status" in update && update.status === "suspended" ? 1 : 0;
    const [values, differs] =
      "tier" in update
        ? [{ tier: update.tier }, sql`kind = 'normal' AND tier <> ${update.tier}`]
        : [{ suspended }, sql`suspended <> ${suspended}`];
    const ofAccount = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes WHERE account = ${account}`)}`;
    const changed = sql`
      SELECT id FROM keys WHERE ${ofAccount} AND status <> 'revoked' AND ${differs} ORDER BY id ${forUpdate}`;
    return readKeyIds(sql`UPDATE keys SET ${sql.update(values)} WHERE id ${isAnyOf(changed)} RETURNING id`);
  };

  return {
    ensureAccount: operation("ensureAccount", function* (account, ownerHash) {
      assertStorable([account.name]);
      yield* account.chatId === null ? insertAccount(account, null) : insertOwned(account, ownerHash ?? null);
      const [stored] = yield* findAccount(account.name);
      return stored ?? { ...account, status: "active", operator: isOperators(account) };
    }),

    findAccount: operation("findAccount", (name) => {
      assertStorable([name]);
      return Effect.map(findAccount(name), Arr.head);
    }),

    listAccounts: operation("listAccounts", () =>
      readAccounts(sql`SELECT ${accountColumns} FROM accounts ORDER BY name`),
    ),

    updateAccount: transaction("updateAccount", function* ({ name, update, ...origin }) {
      assertStorable([name]);
      // Lock the account, so that no key is created before the end of this transaction: a new key copies the status of
      // its account.
      const [account] = yield* readAccounts(
        sql`SELECT ${accountColumns} FROM accounts WHERE name = ${name} ${forUpdate}`,
      );
      if (account === undefined) return Option.none();
      const keys = yield* updateKeys(name, update);
      const isSame = "tier" in update ? account.tier === update.tier : account.status === update.status;
      if (isSame && keys.length === 0) return Option.some({ changed: false, keys });
      yield* sql`UPDATE accounts SET ${sql.update({ ...update })} WHERE name = ${name}`;
      const entry = { ...origin, account: name, pid: null, action: "account.updated" } as const;
      yield* insertEntry(sql, { ...entry, details: { ...update, keys: keys.length } });
      return Option.some({ changed: true, keys });
    }),

    renameAccount: transaction("renameAccount", function* ({ name, displayName, ...origin }) {
      assertStorable([name, displayName]);
      // Lock the name, because another account may take it meanwhile.
      yield* sql`SELECT locks FROM ${onlyOne(`name of an account: ${displayName}`)}`;
      const found = yield* readAccounts(sql`
        SELECT ${accountColumns} FROM accounts
        WHERE name = ${name} OR name = ${displayName} OR display_name = ${displayName} ORDER BY name ${forUpdate}`);
      const account = found.find((each) => each.name === name);
      if (account === undefined) return "unknown";
      if (found.length > 1) return "taken";
      if (shownName(account) === displayName) return "unchanged";
      yield* sql`UPDATE accounts SET display_name = ${displayName} WHERE name = ${name}`;
      const entry = { ...origin, account: name, pid: null, action: "account.updated" } as const;
      yield* insertEntry(sql, { ...entry, details: { name: displayName } });
      return "renamed";
    }),

    ensureScope: operation("ensureScope", function* (account, target, pid) {
      assertStorable([account]);
      yield* sql`
        INSERT INTO scopes (pid, account, guild_id) VALUES (${pid}, ${account}, ${guildOf(target)})
        ON CONFLICT (account, COALESCE(guild_id, '')) DO NOTHING`;
      const [scope = { ...target, pid, account }] = yield* findScope(account, target);
      return scope;
    }),

    findScope: operation("findScope", (account, target) => {
      assertStorable([account]);
      return Effect.map(findScope(account, target), Arr.head);
    }),

    findScopeByPid: operation("findScopeByPid", (pid) =>
      Effect.map(readConfigured(scopeRows(pid)), Arr.head),
    ),

    listScopes: operation("listScopes", function* (account) {
      assertStorable([account]);
      const scopes = sql`SELECT ${configuredColumns} FROM scopes WHERE account = ${account}`;
      return (yield* readConfigured(scopes)).toSorted(scopeOrder);
    }),

    updateSettings: transaction("updateSettings", function* ({ pid, update, ...origin }) {
      assertStorable(Object.values(update).filter((value) => typeof value === "string"));
      const [found] = yield* readConfigured(
        sql`SELECT ${configuredColumns} FROM scopes WHERE pid = ${pid} ${forUpdate}`,
      );
      if (found === undefined) throw new Error(`Cannot change the settings of scope "${pid}"`);
      const changed = changedSettings(found.settings, update);
      if (changed.length === 0) return found.settings;
      const settings = { ...found.settings, ...update };
      const details = changeDetails(found.settings, settings, changed);
      yield* sql`UPDATE scopes SET ${sql.update(rowOfSettings(settings))} WHERE pid = ${pid}`;
      yield* insertEntry(sql, { ...origin, pid, action: "account.updated", details });
      return settings;
    }),
  } satisfies Partial<KeyStore["Service"]>;
};

export const readKeyIds = columnReader("keys", "id", KeyId);

export const Tiers = literalsOf<Tier>({ free: true, premium: true });

export const accountFields = {
  name: Schema.String,
  chatId: Schema.NullOr(ChatId),
  tier: Tiers,
  status: literalsOf<AccountStatus>({ active: true, suspended: true }),
  operator: Schema.BooleanFromBit,
  displayName: Schema.NullOr(Schema.String),
};

const accounts = tableOf("accounts", accountFields);

export const { columns: accountColumns, rowOf: rowOfAccount } = accounts;

const accountOf = ({ displayName, ...account }: ValuesOf<typeof accountFields>): Account =>
  displayName === null ? account : { ...account, displayName };

export const readAccounts = accounts.reader(accountOf);

export const scopeFields = { pid: Pid, account: Schema.String, guildId: Schema.NullOr(GuildId) };

type ScopeValues = ValuesOf<typeof scopeFields>;

const scopeOf = ({ pid, account, guildId }: ScopeValues): DataScope =>
  guildId === null ? { kind: "global", pid, account } : { kind: "guild", guildId, pid, account };

/** Replaces `pid`, `account` and `guildId` by a `DataScope` in the field `scope`. */
export const withScope = <Values extends ScopeValues>({ pid, account, guildId, ...values }: Values) => ({
  ...values,
  scope: scopeOf({ pid, account, guildId }),
});

export const readScopes = tableOf("scopes", scopeFields).reader(scopeOf);

const settingFields = {
  displayName: Schema.NullOr(Schema.String),
  supportUrl: Schema.NullOr(Schema.String),
  doneText: Schema.NullOr(Schema.String),
  minGameAgeDays: OptionalInt,
  minChatAgeDays: OptionalInt,
  freshProof: Schema.BooleanFromBit,
  oneChatUser: Schema.BooleanFromBit,
};

export const { rowOf: rowOfSettings } = tableOf("scopes", settingFields);

const configured = tableOf("scopes", { ...scopeFields, ...settingFields });

const { columns: configuredColumns } = configured;

const readConfigured = configured.reader(
  ({ pid, account, guildId, ...settings }): ConfiguredScope => ({
    scope: scopeOf({ pid, account, guildId }),
    settings,
  }),
);
