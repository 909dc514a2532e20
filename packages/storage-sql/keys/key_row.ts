/** Rows of accounts, scopes and keys. */
import { type ApiKey, ChatId, type DataScope, GuildId, KeyId, Pid } from "@accountlink/core";
import type {
  Account,
  AccountStatus,
  ConfiguredScope,
  KeyAccess,
  KeyDetails,
  KeyStatus,
  PresentedKey,
  Tier,
} from "@accountlink/core/keys";
import type { KeyKind } from "@accountlink/core/limits";
import { Schema } from "effect";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

const Tiers = literalsOf<Tier>({ free: true, premium: true });
const Statuses = literalsOf<KeyStatus>({ active: true, disabled: true, revoked: true });
const Texts = Schema.fromJsonString(Schema.Array(Schema.String));

const AccountRow = Schema.Struct({
  name: Schema.String,
  chat_id: Schema.NullOr(ChatId),
  tier: Tiers,
  status: literalsOf<AccountStatus>({ active: true, suspended: true }),
});

const ScopeRow = Schema.Struct({ pid: Pid, account: Schema.String, guild_id: Schema.NullOr(GuildId) });

const ConfiguredRow = Schema.Struct({
  ...ScopeRow.fields,
  display_name: Schema.NullOr(Schema.String),
  support_url: Schema.NullOr(Schema.String),
  done_text: Schema.NullOr(Schema.String),
});

const KeyRow = Schema.Struct({
  ...ScopeRow.fields,
  id: KeyId,
  name: Schema.String,
  tier: Tiers,
  kind: literalsOf<KeyKind>({ normal: true, partner: true, staff: true }),
  access: literalsOf<KeyAccess>({ full: true, read: true, verify: true }),
  status: Statuses,
  suspended: Schema.Literals([0, 1]),
  expires_at: Schema.NullOr(Schema.Int),
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
  allow_ips: Texts,
  deny_ips: Texts,
  redirect_origins: Texts,
  created_at: Schema.Int,
});

const SecretRow = Schema.Struct({ ...KeyRow.fields, secret_ends_at: Schema.NullOr(Schema.Int) });

const DetailsRow = Schema.Struct({
  ...KeyRow.fields,
  last_used_at: Schema.NullOr(Schema.Int),
  revoked_at: Schema.NullOr(Schema.Int),
  previous_secret_ends_at: Schema.NullOr(Schema.Int),
});

const scopeOf = ({ pid, account, guild_id }: typeof ScopeRow.Type): DataScope =>
  guild_id === null ? { kind: "global", pid, account } : { kind: "guild", guildId: guild_id, pid, account };

const configuredOf = (row: typeof ConfiguredRow.Type): ConfiguredScope => ({
  scope: scopeOf(row),
  settings: { displayName: row.display_name, supportUrl: row.support_url, doneText: row.done_text },
});

const keyOf = (row: typeof KeyRow.Type): ApiKey => ({
  id: row.id,
  name: row.name,
  scope: scopeOf(row),
  tier: row.tier,
  kind: row.kind,
  access: row.access,
  status: row.status,
  suspended: row.suspended === 1,
  expiresAt: row.expires_at,
  limits: row.limits,
  allowIps: row.allow_ips,
  denyIps: row.deny_ips,
  redirectOrigins: row.redirect_origins,
  createdAt: row.created_at,
});

/** The columns of `readKeys`, from `keyTables`. */
export const keyColumns = `
  keys.id, keys.name, keys.tier, keys.kind, keys.access, keys.status, keys.suspended, keys.expires_at, keys.limits, keys.allow_ips,
  keys.deny_ips, keys.redirect_origins, keys.created_at, scopes.pid, scopes.account, scopes.guild_id`;

export const keyTables = "keys JOIN scopes ON scopes.pid = keys.pid";

/** A secret expires with its key, or earlier. */
const presentedKeyOf = (row: typeof SecretRow.Type): PresentedKey => ({
  key: keyOf(row),
  endsAt: earlier(row.expires_at, row.secret_ends_at),
});

const detailsOf = (row: typeof DetailsRow.Type): KeyDetails => ({
  ...keyOf(row),
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
  previousSecretEndsAt:
    row.previous_secret_ends_at === null ? null : earlier(row.expires_at, row.previous_secret_ends_at),
});

/** The earlier of two ends; null is never. */
const earlier = (one: number | null, other: number | null): number | null => {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
};

/** The part of a key that audit entries need. */
export type KeyState = Pick<ApiKey, "id" | "status"> & Pick<DataScope, "pid">;

export const readAccounts = schemaReaderOf(
  "accounts",
  AccountRow,
  ({ name, chat_id, tier, status }): Account => ({ name, chatId: chat_id, tier, status }),
);
/** The columns of `readAccounts`. */
export const accountColumns = "name, chat_id, tier, status";
export const readScopes = schemaReaderOf("scopes", ScopeRow, scopeOf);
/** The columns of `readConfigured`. */
export const configuredColumns = Object.keys(ConfiguredRow.fields).join(", ");
export const readConfigured = schemaReaderOf("scopes", ConfiguredRow, configuredOf);
export const readKeys = schemaReaderOf("keys", KeyRow, keyOf);
export const readDetails = schemaReaderOf("keys", DetailsRow, detailsOf);
export const readPresentedKeys = schemaReaderOf("keys", SecretRow, presentedKeyOf);
export const readStates = schemaReaderOf(
  "keys",
  Schema.Struct({ id: KeyId, status: Statuses, pid: Pid }),
  (state): KeyState => state,
);
export const readCounts = schemaReaderOf("keys", Schema.Struct({ count: Schema.Int }), ({ count }) => count);

export const readKeyIds = schemaReaderOf("keys", Schema.Struct({ id: KeyId }), ({ id }) => id);
