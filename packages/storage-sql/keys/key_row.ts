/** Rows of accounts, scopes and keys. */
import { type ApiKey, ChatId, type DataScope, GuildId, KeyId, Pid } from "@accountlink/core";
import type { Account, KeyKind, KeyStatus, PresentedKey, Tier } from "@accountlink/core/keys";
import { Schema } from "effect";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

const Tiers = literalsOf<Tier>({ free: true, premium: true });
const Statuses = literalsOf<KeyStatus>({ active: true, disabled: true, revoked: true });
const Texts = Schema.fromJsonString(Schema.Array(Schema.String));

const AccountRow = Schema.Struct({ name: Schema.String, chat_id: Schema.NullOr(ChatId), tier: Tiers });

const ScopeRow = Schema.Struct({ pid: Pid, account: Schema.String, guild_id: Schema.NullOr(GuildId) });

const KeyRow = Schema.Struct({
  ...ScopeRow.fields,
  id: KeyId,
  name: Schema.String,
  tier: Tiers,
  kind: literalsOf<KeyKind>({ normal: true, partner: true, staff: true }),
  status: Statuses,
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

const scopeOf = ({ pid, account, guild_id }: typeof ScopeRow.Type): DataScope =>
  guild_id === null ? { kind: "global", pid, account } : { kind: "guild", guildId: guild_id, pid, account };

const keyOf = (row: typeof KeyRow.Type): ApiKey => ({
  id: row.id,
  name: row.name,
  scope: scopeOf(row),
  tier: row.tier,
  kind: row.kind,
  status: row.status,
  expiresAt: row.expires_at,
  limits: row.limits,
  allowIps: row.allow_ips,
  denyIps: row.deny_ips,
  redirectOrigins: row.redirect_origins,
  createdAt: row.created_at,
});

/** A secret expires with its key, or earlier. */
const presentedKeyOf = (row: typeof SecretRow.Type): PresentedKey => {
  const ends = [row.expires_at, row.secret_ends_at].filter((end) => end !== null);
  return { key: keyOf(row), endsAt: ends.length === 0 ? null : Math.min(...ends) };
};

/** The part of a key that audit entries need. */
export type KeyState = Pick<ApiKey, "id" | "status"> & Pick<DataScope, "pid">;

export const readAccounts = schemaReaderOf(
  "accounts",
  AccountRow,
  ({ name, chat_id, tier }): Account => ({ name, chatId: chat_id, tier }),
);
export const readScopes = schemaReaderOf("scopes", ScopeRow, scopeOf);
export const readKeys = schemaReaderOf("keys", KeyRow, keyOf);
export const readPresentedKeys = schemaReaderOf("keys", SecretRow, presentedKeyOf);
export const readStates = schemaReaderOf(
  "keys",
  Schema.Struct({ id: KeyId, status: Statuses, pid: Pid }),
  (state): KeyState => state,
);
export const readCounts = schemaReaderOf("keys", Schema.Struct({ count: Schema.Int }), ({ count }) => count);

export const readKeyIds = schemaReaderOf("keys", Schema.Struct({ id: KeyId }), ({ id }) => id);
