/** A key as a store keeps it, and the rules by which it changes. */
import type { KeyId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { ApiKey, KeyDetails, KeyStatus } from "./api_key.ts";
import type { InsertKey, PresentedKey, RotateKey, UpdateAccount } from "./key_store.ts";

/** A secret of a key, as its hash. */
export interface KeySecret {
  readonly hash: string;
  /** Null if it lasts as long as its key. */
  readonly endsAt: Millis | null;
}

/** A key with its secrets, the newest last. */
export interface StoredKey {
  readonly key: ApiKey;
  /** Whether it counts against the maximum of its account. */
  readonly counts: boolean;
  readonly secrets: ReadonlyArray<KeySecret>;
  readonly lastUsedAt: Millis | null;
  readonly revokedAt: Millis | null;
}

/**
 * A new key. `suspended` is that of its account.
 *
 * @example
 * ```ts
 * import { Pid } from "@accountlink/core";
 * import { makeKey } from "@accountlink/testing";
 *
 * const scope = { kind: "global", pid: Pid.make("pid_0123456789abcdefghij"), account: "acme" } as const;
 * const key = makeKey(scope, { name: "bot" });
 * const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
 *
 * const created = insertedKey({ ...origin, key, hash: "first", maxKeys: 10, at: 0 }, false);
 * const rotation = { ...origin, id: key.id, hash: "second", at: 1_000, previousUntil: 5_000 };
 * const rotated = rotatedKey(created, rotation);
 * presentedKey(rotated, "first").endsAt; // 5000
 * presentedKey(rotated, "second").endsAt; // null
 * keyDetails(rotated, 1_000).previousSecretEndsAt; // 5000
 *
 * const revoked = storedUpdate(rotated, { ...key, status: "revoked" }, 2_000);
 * [rotated, revoked].map(countsNow); // [true, false]
 * keyEntryDetails(revoked.key).status; // "revoked"
 * keyOfUpdatedAccount(created.key, { tier: "premium" })?.tier; // "premium"
 * keyOfErasedAccount(created, "erased_1", 3_000).key.name; // ""
 * [key, makeKey(scope, { createdAt: -1 })].toSorted(oldestKeyFirst).at(-1) === key; // true
 * ```
 */
export const insertedKey = ({ key, hash, maxKeys, at }: InsertKey, suspended: boolean): StoredKey => ({
  key: { ...key, suspended },
  counts: maxKeys !== null,
  secrets: [{ hash, endsAt: null }],
  lastUsedAt: null,
  revokedAt: key.status === "revoked" ? at : null,
});

/** Whether the key counts against the maximum of its account now. */
export const countsNow = ({ counts, key }: StoredKey): boolean => counts && key.status !== "revoked";

/** What a secret of the key gives access to, and until when. */
export const presentedKey = ({ key, secrets }: StoredKey, hash: string): PresentedKey => {
  const secret = secrets.find((each) => each.hash === hash);
  return { key, endsAt: earlierEnd(key.expiresAt, secret?.endsAt ?? null) };
};

/** The key with what its owner sees. */
export const keyDetails = ({ key, secrets, lastUsedAt, revokedAt }: StoredKey, at: Millis): KeyDetails => {
  const ends = secrets.flatMap(({ endsAt }) => (endsAt === null ? [] : [earlierEnd(endsAt, key.expiresAt)]));
  const latest = Math.max(...ends.map(Number));
  return { ...key, lastUsedAt, previousSecretEndsAt: latest > at ? latest : null, revokedAt };
};

/** The order of `KeyStore.listKeys`. */
export const oldestKeyFirst = (one: ApiKey, other: ApiKey): number =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1);

/** The key after a rotation. */
export const rotatedKey = (stored: StoredKey, { hash, previousUntil }: RotateKey): StoredKey => ({
  ...stored,
  secrets: [
    ...stored.secrets.map((secret) => ({ ...secret, endsAt: earlierEnd(secret.endsAt, previousUntil) })),
    { hash, endsAt: null },
  ],
});

/** The key with new values by `updatedKey`. */
export const storedUpdate = (stored: StoredKey, key: ApiKey, at: Millis): StoredKey => ({
  ...stored,
  key,
  counts: key.kind === stored.key.kind ? stored.counts : key.kind === "normal",
  revokedAt: key.status === "revoked" ? at : null,
});

/** The key after an update of its account; null if it stays. */
export const keyOfUpdatedAccount = (key: ApiKey, update: UpdateAccount["update"]): ApiKey | null => {
  if (key.status === "revoked") return null;
  if ("tier" in update) {
    return key.kind === "normal" && key.tier !== update.tier ? { ...key, tier: update.tier } : null;
  }
  const suspended = update.status === "suspended";
  return key.suspended === suspended ? null : { ...key, suspended };
};

/** The key of an account that was erased: revoked, under another name, without the owner's texts. */
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

/** The details of an audit entry about a key. */
export const keyEntryDetails = ({ id, status }: ApiKey): { keyId: KeyId; status: KeyStatus } => ({
  keyId: id,
  status,
});

/**
 * The earlier of two ends; null is never.
 *
 * @internal
 */
export const earlierEnd = (one: Millis | null, other: Millis | null): Millis | null => {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
};
