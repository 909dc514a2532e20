import { Effect, Schema } from "effect";
import { SecureRandom } from "effect/crypto";
import { tiers } from "../account.ts";
import { type AuditAction, changeDetails, changedFields } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import { KeyId, Pid } from "../ids.ts";
import { keyKinds } from "../limits/quota.ts";
import { type RecordOf, recordType } from "../records/record_type.ts";
import { randomToken } from "../secrets/crypto.ts";
import type { Millis } from "../timestamp.ts";

export * from "../account.ts";

/**
 * The routes that a key may use. `read`: single and bulk lookups, events, and related accounts (alts) with their
 * reviews. `verify`: sessions and single lookups. `game`: what `verify` may, and sessions that name a game user.
 * `manage`: what `full` may, and what moderators and admins may on the dashboard with the communities of its scope.
 *
 * @internal
 */
export const keyAccesses = ["full", "read", "verify", "game", "manage"] as const;

export type KeyAccess = (typeof keyAccesses)[number];

/** The accesses that allow every route of v1 and v2. @internal */
export const fullAccesses = ["full", "manage"] as const satisfies ReadonlyArray<KeyAccess>;

/** Returns whether a key may create sessions that name a game user. @internal */
export const mayNamePlayers = ({ access }: Pick<ApiKey, "access">): boolean =>
  access === "game" || fullAccesses.some((full) => full === access);

const time = Schema.NullOr(Schema.Int);
const texts = Schema.Array(Schema.String);
const limit = Schema.optionalKey(Schema.Int);

/** @internal */
export const keyRecords = recordType({
  name: "keys",
  fields: {
    id: KeyId,
    pid: Pid,
    name: Schema.String,
    tier: Schema.Literals(tiers),
    kind: Schema.Literals(keyKinds),
    access: Schema.Literals(keyAccesses),
    status: Schema.Literals(["active", "disabled", "revoked"]),
    /** Whether the account is suspended, or was when the key was revoked. */
    suspended: Schema.Boolean,
    expiresAt: time,
    limits: Schema.Union([
      Schema.Literal("none"),
      Schema.Struct({ perWindow: limit, windowMs: limit, daily: limit, verifyDaily: limit }),
    ]),
    /** Addresses or CIDRs; an empty list allows all. */
    allowIps: texts,
    /** Addresses or CIDRs; a match overrides the allow list. */
    denyIps: texts,
    /** Origins of redirects that verification sessions and flows may use. */
    redirectOrigins: texts,
    createdAt: Schema.Int,
    /**
     * The chat ID of the owner with whose rights the key manages communities: the member who made its secret, or who gave
     * it the access `manage`. `[erased]` once that user is erased. Null if the operator made the key, which then has the
     * rights of the owners of its account.
     */
    madeBy: Schema.NullOr(Schema.String),
    /** Whether the key counts against its account's maximum until it is revoked. */
    counts: Schema.Boolean,
    revokedAt: time,
  },
  json: ["limits", "allowIps", "denyIps", "redirectOrigins"],
  key: ["id"],
  indexes: {
    byTime: { fields: ["createdAt", "id"] },
    /** Without revoked keys, since the public flow reads it without a key. */
    living: { fields: ["pid", "id"], only: { field: "status", values: ["active", "disabled"] } },
    byMaker: { fields: ["madeBy", "id"], group: 1 },
    revoked: { fields: ["revokedAt", "id"] },
  },
  isOfAccount: true,
});

export type KeyRecord = RecordOf<typeof keyRecords>;

export type KeyStatus = KeyRecord["status"];

/** Keyed hashes of the secrets of keys. @internal */
export const keySecrets = recordType({
  name: "key_secrets",
  fields: {
    hash: Schema.String,
    keyId: KeyId,
    /** When the secret expires; null for the newest one, which expires with its key. */
    endsAt: time,
  },
  key: ["hash"],
  indexes: { ofKey: { fields: ["keyId", "hash"], group: 1 } },
});

/** How many secrets of a key are known, with those that a rotation ended: somebody may report one as leaked. @internal */
export const mostSecrets = 10;

/** Hashes of erased users who owned a suspended account. @internal */
export const suspendedOwners = recordType({
  name: "suspended_owners",
  fields: { hash: Schema.String },
  key: ["hash"],
  indexes: {},
});

/** A key without its secret. Only a keyed hash of the secret is stored. */
export interface ApiKey extends Omit<KeyRecord, "pid" | "counts" | "revokedAt"> {
  readonly scope: DataScope;
}

/** A key with its usage data for the owner. */
export interface KeyDetails extends ApiKey {
  /** When the key was last used, accurate to a minute; null if it was never used. */
  readonly lastUsedAt: Millis | null;
  /** When the last of the replaced secrets expires; null if none of them is accepted any more. */
  readonly previousSecretEndsAt: Millis | null;
  readonly revokedAt: Millis | null;
}

/**
 * Returns whether requests with the key are accepted: key and account are active, and the key has not expired.
 * @internal
 */
export const isAccepted = (
  { status, suspended, expiresAt }: Pick<ApiKey, "status" | "suspended" | "expiresAt">,
  now: Millis,
): boolean => status === "active" && !suspended && (expiresAt === null || now < expiresAt);

/** Returns whether the key is not revoked. @internal */
export const isLiving = ({ status }: Pick<KeyRecord, "status">): boolean => status !== "revoked";

/** Returns whether an operator exempted the key from every limit, also on session creations. @internal */
export const isUnlimited = ({ kind, limits }: Pick<ApiKey, "kind" | "limits">): boolean =>
  kind !== "normal" && limits === "none";

/** Returns the earlier of two expiries; null means never. @internal */
export const earlierEnd = (one: Millis | null, other: Millis | null): Millis | null => {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
};

const tokenPattern = /^alk_([0-9A-Za-z]{12})_[0-9A-Za-z_-]{43}$/;

/** Returns the public id inside a key; null if the text does not have the form of a key. @internal */
export const keyIdOf = (token: string): KeyId | null =>
  (tokenPattern.exec(token)?.[1] as KeyId | undefined) ?? null;

/** Returns a key for pages and logs: `alk_<public id>_…`. @internal */
export const maskedKey = (id: KeyId): string => `alk_${id}_…`;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns random text of `length` characters, uniform over the first `radix` of 0-9A-Za-z. @internal */
export const randomText = Effect.fnUntraced(function* (
  random: SecureRandom.SecureRandom["Service"],
  length: number,
  radix: 36 | 62,
) {
  let text = "";
  for (let i = 0; i < length; i++) {
    const digit = alphabet[yield* random.intBetween(0, radix - 1)] as string;
    text += radix === 36 ? digit.toLowerCase() : digit;
  }
  return text;
});

/** Generates a full key with a new or given public id. It is shown once and never stored. @internal */
export const generateToken = Effect.fnUntraced(function* (id?: KeyId) {
  const random = yield* SecureRandom.SecureRandom;
  const keyId = id ?? ((yield* randomText(random, 12, 62)) as KeyId);
  return { id: keyId, token: `alk_${keyId}_${yield* randomToken(random)}` };
});

const fields = [
  "name",
  "tier",
  "kind",
  "access",
  "expiresAt",
  "limits",
  "allowIps",
  "denyIps",
  "redirectOrigins",
  "status",
  "madeBy",
] as const satisfies ReadonlyArray<keyof ApiKey>;

/** The fields whose old and new values an audit entry tells. */
const told = ["name", "access", "expiresAt"] as const satisfies ReadonlyArray<(typeof fields)[number]>;

/** New values of a key; omitted fields stay unchanged. */
export type KeyUpdate = Partial<Pick<ApiKey, (typeof fields)[number]>>;

/**
 * Applies an update to a stored key. Returns the key with its new values, and the content of the audit entry; null if the
 * update changes nothing.
 *
 * @param action the action of the audit entry; when left out, it is `key.status_changed` or `key.updated`
 * @internal
 */
export const updatedKey = (key: KeyRecord, update: KeyUpdate, action?: AuditAction) => {
  const changed = changedFields(fields, key, update);
  if (changed.length === 0) return null;
  const next = { ...key, ...Object.fromEntries(changed.map((field) => [field, update[field]])) };
  const { id: keyId, status } = next;
  if (changed.every((field) => field === "status"))
    return { key: next, action: action ?? "key.status_changed", details: { keyId, status } };
  // Of other fields only the names are logged, because their values may be addresses.
  const names = changed.filter((field) => field !== "madeBy").join(", ");
  const shown = told.filter((field) => changed.includes(field));
  const details = { keyId, status, changed: names, ...changeDetails(key, next, shown) };
  return { key: next, action: action ?? "key.updated", details };
};
