import { type ApiKey, ChatId, type DataScope, GuildId, KeyId, Pid } from "@accountlink/core";
import {
  type Account,
  type AccountStatus,
  type ConfiguredScope,
  earlierEnd,
  type KeyAccess,
  type KeyDetails,
  type KeyStatus,
  type PresentedKey,
  type Tier,
} from "@accountlink/core/keys";
import type { KeyKind } from "@accountlink/core/limits";
import { Schema } from "effect";
import {
  columnReader,
  literalSql,
  literalsOf,
  schemaReaderOf,
  tableOf,
  type ValuesOf,
} from "../statements/row.ts";

const Tiers = literalsOf<Tier>({ free: true, premium: true });
const Statuses = literalsOf<KeyStatus>({ active: true, disabled: true, revoked: true });
const Texts = Schema.fromJsonString(Schema.Array(Schema.String));

export const accountFields = {
  name: Schema.String,
  chatId: Schema.NullOr(ChatId),
  tier: Tiers,
  status: literalsOf<AccountStatus>({ active: true, suspended: true }),
};

const accounts = tableOf("accounts", accountFields);

const scopeFields = { pid: Pid, account: Schema.String, guildId: Schema.NullOr(GuildId) };

const configured = tableOf("scopes", {
  ...scopeFields,
  displayName: Schema.NullOr(Schema.String),
  supportUrl: Schema.NullOr(Schema.String),
  doneText: Schema.NullOr(Schema.String),
});

const keyFields = {
  ...scopeFields,
  id: KeyId,
  name: Schema.String,
  tier: Tiers,
  kind: literalsOf<KeyKind>({ normal: true, partner: true, staff: true }),
  access: literalsOf<KeyAccess>({ full: true, read: true, verify: true }),
  status: Statuses,
  suspended: Schema.BooleanFromBit,
  expiresAt: Schema.NullOr(Schema.Int),
  limits: Schema.fromJsonString(
    Schema.Union([
      Schema.Literal("none"),
      Schema.Struct({
        perWindow: Schema.optionalKey(Schema.Finite),
        windowMs: Schema.optionalKey(Schema.Finite),
        daily: Schema.optionalKey(Schema.Finite),
        verifyDaily: Schema.optionalKey(Schema.Finite),
      }),
    ]),
  ),
  allowIps: Texts,
  denyIps: Texts,
  redirectOrigins: Texts,
  createdAt: Schema.Int,
};

export const scopeOf = ({ pid, account, guildId }: ValuesOf<typeof scopeFields>): DataScope =>
  guildId === null ? { kind: "global", pid, account } : { kind: "guild", guildId, pid, account };

/** Replaces `pid`, `account` and `guildId` by a `DataScope` in the field `scope`. */
export const withScope = <Values extends ValuesOf<typeof scopeFields>>({
  pid,
  account,
  guildId,
  ...values
}: Values) => ({ ...values, scope: scopeOf({ pid, account, guildId }) });

export const keyColumns = literalSql(`
  keys.id, keys.name, keys.tier, keys.kind, keys.access, keys.status, keys.suspended, keys.expires_at, keys.limits, keys.allow_ips,
  keys.deny_ips, keys.redirect_origins, keys.created_at, scopes.pid, scopes.account, scopes.guild_id`);

export const keyTables = literalSql("keys JOIN scopes ON scopes.pid = keys.pid");

/** The part of a key that audit entries need. */
export type KeyState = Pick<ApiKey, "id" | "status"> & Pick<DataScope, "pid">;

export const readAccounts = accounts.reader((account): Account => account);
export const accountColumns = accounts.columns;
export const readScopes = tableOf("scopes", scopeFields).reader(scopeOf);
export const configuredColumns = configured.columns;
export const readConfigured = configured.reader(
  ({ displayName, supportUrl, doneText, ...scope }): ConfiguredScope => ({
    scope: scopeOf(scope),
    settings: { displayName, supportUrl, doneText },
  }),
);
export const readKeys = tableOf("keys", keyFields).reader((key): ApiKey => withScope(key));

const detailFields = {
  ...keyFields,
  lastUsedAt: Schema.NullOr(Schema.Int),
  revokedAt: Schema.NullOr(Schema.Int),
  previousSecretEndsAt: Schema.NullOr(Schema.Int),
};

export const readDetails = tableOf("keys", detailFields).reader(
  ({ previousSecretEndsAt: endsAt, ...key }): KeyDetails => ({
    ...withScope(key),
    previousSecretEndsAt: endsAt === null ? null : earlierEnd(key.expiresAt, endsAt),
  }),
);

const secretFields = { ...keyFields, secretEndsAt: Schema.NullOr(Schema.Int) };

/** Reads the key of a presented secret, and when the secret expires, which is never later than the key. */
export const readPresentedKeys = tableOf("keys", secretFields).reader(
  ({ secretEndsAt, ...key }): PresentedKey => ({
    key: withScope(key),
    endsAt: earlierEnd(key.expiresAt, secretEndsAt),
  }),
);
export const readStates = schemaReaderOf(
  "keys",
  Schema.Struct({ id: KeyId, status: Statuses, pid: Pid }),
  (state): KeyState => state,
);
export const readCounts = columnReader("keys", "count", Schema.Int);

export const readKeyIds = columnReader("keys", "id", KeyId);
