/** The rows of accounts and scopes. */
import { ChatId, type DataScope, GuildId, Pid, targetOfGuild } from "@accountlink/core";
import {
  type Account,
  type AccountStatus,
  type ConfiguredScope,
  generatedName,
  type Tier,
} from "@accountlink/core/keys";
import { Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { literalsOf, OptionalInt, OptionalText, tableOf, type ValuesOf } from "../statements/row.ts";

const accountFields = {
  name: Schema.String,
  chatId: Schema.NullOr(ChatId),
  tier: literalsOf<Tier>({ free: true, premium: true }),
  status: literalsOf<AccountStatus>({ active: true, suspended: true }),
  operator: Schema.BooleanFromBit,
  displayName: OptionalText,
};

const accounts = tableOf("accounts", accountFields);

export const { columns: accountColumns, rowOf: rowOfAccount } = accounts;

const accountOf = ({ displayName, ...account }: ValuesOf<typeof accountFields>): Account =>
  displayName === null ? account : { ...account, displayName };

export const readAccounts = accounts.reader(accountOf);

export const accountsOfUser = (sql: SqlClient.SqlClient, chatId: ChatId) =>
  readAccounts(sql`SELECT ${accountColumns} FROM accounts WHERE chat_id = ${chatId} ORDER BY name`);

/** Selects the names of the accounts that `isAccountOf` finds. */
export const namesOfUser = (sql: SqlClient.SqlClient, chatId: ChatId) => {
  const name = generatedName(chatId);
  // Several selects, so that each uses an index.
  return sql`
    SELECT name FROM accounts WHERE chat_id = ${chatId}
    UNION SELECT name FROM accounts WHERE name = ${name} AND chat_id IS NULL AND operator = 0
    UNION SELECT name FROM accounts
    WHERE name >= ${`${name}:`} AND name < ${`${name};`} AND chat_id IS NULL AND operator = 0`;
};

export const scopeFields = { pid: Pid, account: Schema.String, guildId: Schema.NullOr(GuildId) };

type ScopeValues = ValuesOf<typeof scopeFields>;

const scopeOf = ({ pid, account, guildId }: ScopeValues): DataScope => ({
  ...targetOfGuild(guildId),
  pid,
  account,
});

/** Replaces `pid`, `account` and `guildId` by a `DataScope` in the field `scope`. */
export const withScope = <Values extends ScopeValues>({ pid, account, guildId, ...values }: Values) => ({
  ...values,
  scope: scopeOf({ pid, account, guildId }),
});

export const readScopes = tableOf("scopes", scopeFields).reader(scopeOf);

const settingFields = {
  displayName: OptionalText,
  supportUrl: OptionalText,
  doneText: OptionalText,
  minGameAgeDays: OptionalInt,
  minChatAgeDays: OptionalInt,
  freshProof: Schema.BooleanFromBit,
  oneChatUser: Schema.BooleanFromBit,
};

export const { rowOf: rowOfSettings } = tableOf("scopes", settingFields);

export const configuredFields = { ...scopeFields, ...settingFields };

const configured = tableOf("scopes", configuredFields);

export const { columns: configuredColumns } = configured;

export const readConfigured = configured.reader((row): ConfiguredScope => {
  const { scope, ...settings } = withScope(row);
  return { scope, settings };
});
