import type { ApiKey, KeyId } from "@accountlink/core";
import { earlierEnd, type KeyDetails } from "@accountlink/core/keys";
import type { Tx } from "@accountlink/core/records";
import type { Millis } from "@accountlink/core/timestamp";
import { lastUsePrecision } from "@accountlink/core/usage";
import { Effect } from "effect";
import { changeFirst, isAtEnd } from "../steps.ts";
import { keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import {
  accountAt,
  accountNamed,
  accountOf,
  accounts,
  dataScope,
  type ScopeRef,
  type StoredAccount,
} from "./scopes.ts";

/** A key with its secrets, the newest last. A secret whose `endsAt` is null expires with its key. */
export interface StoredKey {
  /** Keys of earlier releases lack `madeBy`. */
  readonly key: Omit<ApiKey, "scope" | "suspended" | "madeBy"> & Partial<Pick<ApiKey, "madeBy">>;
  readonly scope: ScopeRef;
  /** Whether the account was suspended when the key was revoked. */
  readonly wasSuspended?: boolean;
  /** Whether the key counts against its account's maximum until it is revoked. */
  readonly counts: boolean;
  readonly secrets: ReadonlyArray<{ readonly hash: string; readonly endsAt: Millis | null }>;
  readonly revokedAt: Millis | null;
}

export const keys = table<StoredKey>()("key", ({ key }) => [key.id], {
  byHash: { keys: ({ key, secrets }) => secrets.map(({ hash }) => [hash, key.id]), group: 1 },
  byAccount: { keys: ({ key, scope }) => [[scope.account, key.createdAt, key.id]], group: 1 },
  // Without revoked keys, since the public flow reads it without a key.
  byScope: { keys: ({ key, scope, revokedAt }) => (revokedAt === null ? [[scope.pid, key.id]] : []) },
  byTime: { keys: ({ key }) => [[key.createdAt, key.id]] },
  byMaker: {
    keys: ({ key: { id, madeBy = null } }) => (madeBy === null ? [] : [[madeBy, id]]),
    group: 1,
  },
  revoked: { keys: ({ key, revokedAt }) => (revokedAt === null ? [] : [[revokedAt, key.id]]) },
});

/** When a key was last used. Apart from the key, so that its use does not overtake its changes. */
interface LastUse {
  readonly key: KeyId;
  readonly at: Millis;
}

export const lastUses = table<LastUse>()("use", ({ key }) => [key], {});

export const apiKeyOf = (stored: StoredKey, account: StoredAccount): ApiKey => ({
  madeBy: null,
  ...stored.key,
  scope: dataScope(stored.scope, account),
  suspended: stored.wasSuspended ?? account.status === "suspended",
});

export const apiKey = Effect.fnUntraced(function* (tx: Transaction, stored: StoredKey) {
  return apiKeyOf(stored, yield* accountAt(tx, stored.scope.account));
});

export const keyDetails = Effect.fnUntraced(function* (tx: Transaction, stored: StoredKey, at: Millis) {
  const { secrets, revokedAt } = stored;
  const key = yield* apiKey(tx, stored);
  const lastUsedAt = (yield* tx.get(lastUses, key.id))?.at ?? null;
  const ends = secrets.flatMap(({ endsAt }) => (endsAt === null ? [] : [earlierEnd(endsAt, key.expiresAt)]));
  const latest = Math.max(...ends.map(Number));
  const previousSecretEndsAt = latest > at ? latest : null;
  return { ...key, lastUsedAt, previousSecretEndsAt, revokedAt } satisfies KeyDetails;
});

/** Returns the key as revoked. */
export const revokedKey = (stored: StoredKey, { status }: StoredAccount, at: Millis): StoredKey => ({
  ...stored,
  key: { ...stored.key, status: "revoked" },
  wasSuspended: status === "suspended",
  revokedAt: at,
});

export const activeKeys = (tx: Transaction, account: number) =>
  Effect.map(tx.list(keys.byAccount, [account]), (found) =>
    found.filter(({ key }) => key.status !== "revoked"),
  );

/** Revokes keys of an account that are not revoked, until the step is over. */
export const revokeSome = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
  isOver: () => boolean,
) {
  const revoked: Array<KeyId> = [];
  const revoke = (stored: StoredKey) => {
    revoked.push(stored.key.id);
    return tx.put(keys, revokedKey(stored, account, at));
  };
  const isMore = yield* changeFirst(tx, yield* activeKeys(tx, account.id), revoke, isOver);
  return { revoked, isMore };
});

/** The operations of `Tx` on accounts and keys. */
export const knownAccounts = (tx: Transaction) =>
  ({
    isFull: () => isAtEnd(tx),

    accountId: (name) => Effect.map(accountNamed(tx, name), (found) => found?.id),

    account: (name) => accountNamed(tx, name),

    accounts: (ids) =>
      Effect.map(
        tx.getAll(accounts, ids, (id) => [id]),
        (found) => new Map(found.flatMap((each) => (each === undefined ? [] : [[each.id, accountOf(each)]]))),
      ),

    putAccount: (account) => tx.put(accounts, account as StoredAccount),

    revokeKeys: (account, at, isOver) => revokeSome(tx, account as StoredAccount, at, isOver),

    knowsKey: (id) => Effect.map(tx.get(keys, id), (found) => found !== undefined),

    /** The oldest first. */
    keysOf: Effect.fnUntraced(function* (name) {
      const account = yield* accountNamed(tx, name);
      const found = account === undefined ? [] : yield* tx.list(keys.byAccount, [account.id]);
      return found.map(({ key }) => key.id);
    }),

    noteUses: Effect.fnUntraced(function* (uses) {
      yield* tx.prefetch(uses.flatMap(({ key }) => [keyOf(keys, [key]), keyOf(lastUses, [key])]));
      for (const { key, at } of uses) {
        if ((yield* tx.get(keys, key)) === undefined) continue;
        const last = (yield* tx.get(lastUses, key))?.at ?? -Infinity;
        if (at - last >= lastUsePrecision) yield* tx.put(lastUses, { key, at });
      }
    }),
  }) satisfies Partial<Tx>;
