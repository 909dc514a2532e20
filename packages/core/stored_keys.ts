/** Keys in any storage. */
import { Array as Arr, Effect, Option, Order } from "effect";
import { accountQueue } from "./account_end.ts";
import { groupBy } from "./group_by.ts";
import {
  earlierEnd,
  isAccepted,
  isLiving,
  type KeyDetails,
  type KeyRecord,
  keyRecords,
  keySecrets,
  mostSecrets,
  updatedKey,
} from "./keys/api_key.ts";
import { KeyStore } from "./keys/key_store.ts";
import type { RecordOf } from "./records/record_type.ts";
import { keysOfAll, recordStore, removeFound, type Tx, withScopes } from "./records/records.ts";
import { sessionBursts, verificationSessions } from "./sessions/mod.ts";
import { assertStorable } from "./storable_text.ts";
import { accountOperations } from "./stored_accounts.ts";
import type { Millis } from "./timestamp.ts";

type Outcome<Name extends keyof KeyStore["Service"]> = Effect.Success<ReturnType<KeyStore["Service"][Name]>>;

const keyOrder = Order.combine(
  Order.mapInput(Order.Number, ({ createdAt }: KeyRecord) => createdAt),
  Order.mapInput(Order.String, ({ id }: KeyRecord) => id),
);

const lastToEnd = Order.flip(
  Order.mapInput(Order.Number, ({ endsAt }: RecordOf<typeof keySecrets>) => endsAt ?? Infinity),
);

const keysOf = (tx: Tx, found: ReadonlyArray<KeyRecord>) =>
  withScopes(tx, found, ({ pid: _, counts: __, revokedAt, ...key }, scope) => ({
    key: { ...key, scope },
    revokedAt,
  }));

const findKey = Effect.fnUntraced(function* (tx: Tx, stored: KeyRecord | undefined) {
  const [found] = yield* keysOf(tx, stored === undefined ? [] : [stored]);
  return found?.key;
});

const detailsOf = Effect.fnUntraced(function* (tx: Tx, found: ReadonlyArray<KeyRecord>, at: Millis) {
  const living = found.filter(isLiving).map(({ id }) => [id]);
  const reads = [
    keysOf(tx, found),
    tx.listAll(keySecrets.ofKey, living),
    tx.lastUses(found.map(({ id }) => id)),
  ] as const;
  const [keys, secrets, lastUses] = yield* Effect.all(reads, tx.atOnce);
  const byKey = groupBy(secrets, ({ keyId }) => keyId);
  return keys.map(({ key, revokedAt }): KeyDetails => {
    const ends = (byKey.get(key.id) ?? []).flatMap(({ endsAt }) => endsAt ?? []);
    const latest = ends.length === 0 ? null : earlierEnd(Math.max(...ends), key.expiresAt);
    const previousSecretEndsAt = latest !== null && latest > at ? latest : null;
    return { ...key, lastUsedAt: lastUses.get(key.id) ?? null, previousSecretEndsAt, revokedAt };
  });
});

/** The keys of an account that are not revoked, by its scopes: the account may have hundreds of revoked ones. */
const livingKeys = Effect.fnUntraced(function* (tx: Tx, account: string) {
  const pids = (yield* tx.scopesOf(account)).map(({ scope }) => [scope.pid]);
  return yield* tx.listAll(keyRecords.living, pids);
});

/** Deletes keys with their secrets, unless a session of theirs is stored. */
const forgetKeys = Effect.fnUntraced(function* (tx: Tx, found: ReadonlyArray<KeyRecord>) {
  for (const { id } of yield* tx.getAll(keyRecords, keysOfAll(keyRecords, found))) {
    if ((yield* tx.count(verificationSessions.ofKey, [id], { most: 1 })) > 0) continue;
    yield* removeFound(keySecrets)(tx, yield* tx.list(keySecrets.ofKey, [id]));
    yield* tx.remove(sessionBursts, id);
    yield* tx.forgetUse(id);
    yield* tx.remove(keyRecords, id);
  }
});

/** The most revoked keys that a write deletes: each has up to `mostSecrets`, a last use and a burst of sessions. */
const keysOfStep = 2;

/** @internal */
export const storedKeys = recordStore(KeyStore, (records) => {
  const { read, write, mostWritten } = records;
  return {
    ...accountOperations(records),

    insertKey: ({ key, hash, maxKeys, rate, ...origin }) =>
      write<Outcome<"insertKey">>("insertKey", accountQueue(key.scope.account), function* (tx) {
        const { scope, ...kept } = key;
        const { id, name, status, allowIps, denyIps, redirectOrigins } = kept;
        const { account: owner, pid } = scope;
        assertStorable([hash, name, ...allowIps, ...denyIps, ...redirectOrigins]);
        const account = yield* tx.account(owner);
        if ((yield* tx.get(keyRecords, id)) !== undefined) return "exists";
        if ((yield* tx.get(keySecrets, hash)) !== undefined) return "exists";
        if (maxKeys !== null) {
          const counted = (yield* tx.ofAccount(keyRecords, owner)).filter(({ counts }) => counts);
          if (counted.filter(isLiving).length >= maxKeys) return "too_many_keys";
          const made = counted.filter(({ createdAt }) => rate !== undefined && createdAt >= rate.since);
          if (rate !== undefined && made.length >= rate.max) return "too_many_made";
        }
        yield* tx.create(keyRecords, {
          ...kept,
          pid,
          suspended: account?.status === "suspended",
          counts: maxKeys !== null,
          revokedAt: status === "revoked" ? origin.at : null,
        });
        yield* tx.create(keySecrets, { hash, keyId: id, endsAt: null });
        yield* tx.journal({ ...origin, pid }, "key.created", { keyId: id, status });
        return "inserted";
      }),

    findByHash: (hash, id) =>
      read("findByHash", function* (tx) {
        const named = id === undefined ? Effect.void : tx.get(keyRecords, id);
        const [secret] = yield* Effect.all([tx.get(keySecrets, hash), named], tx.atOnce);
        if (secret === undefined) return Option.none();
        const key = yield* findKey(tx, yield* tx.get(keyRecords, secret.keyId));
        return Option.map(Option.fromUndefinedOr(key), (found) => ({
          key: found,
          endsAt: earlierEnd(found.expiresAt, secret.endsAt),
        }));
      }),

    findById: (id) =>
      read("findById", function* (tx) {
        return Option.fromUndefinedOr(yield* findKey(tx, yield* tx.get(keyRecords, id)));
      }),

    findDetails: (id, at) =>
      read("findDetails", function* (tx) {
        const stored = yield* tx.get(keyRecords, id);
        return Arr.head(yield* detailsOf(tx, stored === undefined ? [] : [stored], at));
      }),

    acceptedAmong: (ids, at) =>
      read("acceptedAmong", function* (tx) {
        const found = yield* tx.getAll(keyRecords, ids.map(Arr.of));
        return found.filter((key) => isAccepted(key, at)).map(({ id }) => id);
      }),

    listKeys: (account, at, some = "all") =>
      read("listKeys", function* (tx) {
        const found =
          account === null
            ? yield* tx.list(keyRecords.byTime, [])
            : some === "all"
              ? yield* tx.ofAccount(keyRecords, account)
              : yield* livingKeys(tx, account);
        const meant = some === "all" ? found : found.filter(isLiving);
        return yield* detailsOf(tx, meant.toSorted(keyOrder), at);
      }),

    listAccepted: (pid, at) =>
      read("listAccepted", function* (tx) {
        const found = (yield* tx.list(keyRecords.living, [pid])).filter((key) => isAccepted(key, at));
        return (yield* keysOf(tx, found)).map(({ key }) => key);
      }),

    hasKeys: (account) =>
      read("hasKeys", function* (tx) {
        return (yield* tx.ofAccount(keyRecords, account, 1)).length > 0;
      }),

    countKeys: (account) =>
      read("countKeys", function* (tx) {
        return (yield* livingKeys(tx, account)).filter(({ counts }) => counts).length;
      }),

    forgetRevoked: Effect.fnUntraced(function* (before) {
      const old = yield* read("forgetRevoked", (tx) => tx.list(keyRecords.revoked, [], { before: [before] }));
      for (const part of Arr.chunksOf(old, Math.min(mostWritten, keysOfStep))) {
        yield* write("forgetRevoked", "revoked keys", (tx) => forgetKeys(tx, part));
      }
    }),

    rotateKey: ({ id, hash, previousUntil, madeBy, ...origin }) =>
      write("rotateKey", id, function* (tx) {
        const stored = yield* tx.get(keyRecords, id);
        if (stored === undefined || !isLiving(stored)) return false;
        const secrets = (yield* tx.list(keySecrets.ofKey, [id])).toSorted(lastToEnd);
        // Of the earlier secrets, only the last one stays good.
        for (const [index, secret] of secrets.entries()) {
          const endsAt = secret.endsAt === null ? previousUntil : Math.min(secret.endsAt, origin.at);
          if (index >= mostSecrets - 1) yield* tx.remove(keySecrets, secret.hash);
          else if (endsAt !== secret.endsAt) yield* tx.put(keySecrets, { ...secret, endsAt });
        }
        yield* tx.create(keySecrets, { hash, keyId: id, endsAt: null });
        if (madeBy !== undefined) yield* tx.put(keyRecords, { ...stored, madeBy });
        const { pid, status } = stored;
        yield* tx.journal({ ...origin, pid }, "key.rotated", { keyId: id, status });
        return true;
      }),

    updateKey: ({ id, update, action: asked, ...origin }) =>
      write<Outcome<"updateKey">>("updateKey", id, function* (tx) {
        const { name = "", allowIps = [], denyIps = [], redirectOrigins = [] } = update;
        assertStorable([name, ...allowIps, ...denyIps, ...redirectOrigins]);
        const stored = yield* tx.get(keyRecords, id);
        if (stored === undefined) return "unknown";
        if (!isLiving(stored)) return "revoked";
        const updated = updatedKey(stored, update, asked);
        if (updated === null) return "unchanged";
        const { key, action, details } = updated;
        const counts = key.kind === stored.kind ? key.counts : key.kind === "normal";
        yield* tx.put(keyRecords, { ...key, counts, revokedAt: isLiving(key) ? null : origin.at });
        yield* tx.journal({ ...origin, pid: key.pid }, action, details);
        return "updated";
      }),
  };
});
