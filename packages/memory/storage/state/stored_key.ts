import {
  type ApiKey,
  earlierEnd,
  type InsertKey,
  type KeyDetails,
  type PresentedKey,
  type RotateKey,
  type UpdateAccount,
} from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";

/** The hash of a secret and its expiry. */
interface KeySecret {
  readonly hash: string;
  /** Null if the secret expires with its key. */
  readonly endsAt: Millis | null;
}

/** A key with its secrets, the newest last. */
export interface StoredKey {
  readonly key: ApiKey;
  /** Whether the key counts against its account's maximum until it is revoked. */
  readonly counts: boolean;
  readonly secrets: ReadonlyArray<KeySecret>;
  readonly lastUsedAt: Millis | null;
  readonly revokedAt: Millis | null;
}

/** @param suspended whether the account of the key is suspended */
export const insertedKey = ({ key, hash, maxKeys, at }: InsertKey, suspended: boolean): StoredKey => ({
  key: { ...key, suspended },
  counts: maxKeys !== null,
  secrets: [{ hash, endsAt: null }],
  lastUsedAt: null,
  revokedAt: key.status === "revoked" ? at : null,
});

export const countsNow = ({ counts, key }: StoredKey): boolean => counts && key.status !== "revoked";

/** Returns the key with the expiry of the secret with this hash. */
export const presentedKey = ({ key, secrets }: StoredKey, hash: string): PresentedKey => {
  const secret = secrets.find((each) => each.hash === hash);
  return { key, endsAt: earlierEnd(key.expiresAt, secret?.endsAt ?? null) };
};

export const keyDetails = ({ key, secrets, lastUsedAt, revokedAt }: StoredKey, at: Millis): KeyDetails => {
  const ends = secrets.flatMap(({ endsAt }) => (endsAt === null ? [] : [earlierEnd(endsAt, key.expiresAt)]));
  const latest = Math.max(...ends.map(Number));
  return { ...key, lastUsedAt, previousSecretEndsAt: latest > at ? latest : null, revokedAt };
};

/** Sorts like `KeyStore.listKeys`. */
export const oldestKeyFirst = (one: ApiKey, other: ApiKey): number =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1);

export const rotatedKey = (stored: StoredKey, { hash, previousUntil }: RotateKey): StoredKey => ({
  ...stored,
  secrets: [
    ...stored.secrets.map((secret) => ({ ...secret, endsAt: earlierEnd(secret.endsAt, previousUntil) })),
    { hash, endsAt: null },
  ],
});

export const storedUpdate = (stored: StoredKey, key: ApiKey, at: Millis): StoredKey => ({
  ...stored,
  key,
  counts: key.kind === stored.key.kind ? stored.counts : key.kind === "normal",
  revokedAt: key.status === "revoked" ? at : null,
});

/** Returns the key after an update of its account; null if the key stays unchanged. */
export const keyOfUpdatedAccount = (key: ApiKey, update: UpdateAccount["update"]): ApiKey | null => {
  if (key.status === "revoked") return null;
  if ("tier" in update) {
    return key.kind === "normal" && key.tier !== update.tier ? { ...key, tier: update.tier } : null;
  }
  const suspended = update.status === "suspended";
  return key.suspended === suspended ? null : { ...key, suspended };
};

/**
 * Returns the key after the erasure of its account: revoked, with the new account name, and without its own name,
 * address lists and redirect origins.
 */
export const keyOfErasedAccount = (stored: StoredKey, account: string, at: Millis): StoredKey => ({
  ...stored,
  key: {
    ...stored.key,
    scope: { ...stored.key.scope, account },
    status: "revoked",
    name: "",
    allowIps: [],
    denyIps: [],
    redirectOrigins: [],
  },
  revokedAt: stored.key.status === "revoked" ? stored.revokedAt : at,
});
