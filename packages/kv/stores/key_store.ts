import type { KeyId, ScopeTarget } from "@accountlink/core";
import { guildOf } from "@accountlink/core";
import { changeDetails } from "@accountlink/core/audit";
import { logged } from "@accountlink/core/journal";
import {
  changedSettings,
  earlierEnd,
  isAccepted,
  KeyStore,
  noSettings,
  scopeOrder,
  updatedKey,
} from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { sessionBursts, verificationSessions } from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import { accountQueue } from "@accountlink/core/storage";
import { Array as Arr, Effect, Option, Order, Struct } from "effect";
import { kvTable } from "../records.ts";
import { itemsOf, shortListsAtOnce } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { accountOperations } from "./account_operations.ts";
import { record } from "./journal.ts";
import { apiKey, apiKeyOf, keyDetails, keys, lastUses, revokedKey, type StoredKey } from "./keys.ts";
import { purgeAll } from "./purges.ts";
import {
  accountAt,
  accountNamed,
  dataScope,
  refOf,
  type StoredScope,
  scopeAt,
  scopes,
  withScope,
} from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

const scopeOf = Effect.fnUntraced(function* (tx: Transaction, account: string, target: ScopeTarget) {
  const owner = yield* accountNamed(tx, account);
  if (owner === undefined) return undefined;
  const [found] = yield* tx.list(scopes.byAccount, [owner.id, guildOf(target) ?? ""]);
  return found && dataScope(found, owner);
});

const configured = Effect.fnUntraced(function* (tx: Transaction, stored: StoredScope) {
  return { scope: yield* withScope(tx, stored), settings: { ...noSettings, ...stored.settings } };
});

const countedKeys = Effect.fnUntraced(function* (tx: Transaction, account: number) {
  return (yield* tx.list(keys.byAccount, [account])).filter(({ counts }) => counts);
});

const isRevoked = ({ key }: StoredKey) => key.status === "revoked";

const keyOrder = Order.combine(
  Order.mapInput(Order.Number, ({ key }: StoredKey) => key.createdAt),
  Order.mapInput(Order.String, ({ key }: StoredKey) => key.id),
);

/** The keys of an account that are not revoked, by its scopes: the account may have hundreds of revoked ones. */
const livingKeys = Effect.fnUntraced(function* (tx: Transaction, account: number) {
  const own = yield* tx.list(scopes.byAccount, [account]);
  const found = yield* forEachLimited(own, ({ pid }) => tx.list(keys.byScope, [pid]), {
    concurrency: shortListsAtOnce,
  });
  return found.flat().toSorted(keyOrder);
});

export const layer = storeLayer(KeyStore, (db) => ({
  ...accountOperations(db),

  ensureScope: (account, target, pid) =>
    db.write(accountQueue(account), function* (tx) {
      const owner = yield* accountNamed(tx, account);
      if (owner === undefined) {
        throw new Error(`Cannot make a scope of account "${account}", expected one that exists`);
      }
      const found = yield* scopeOf(tx, account, target);
      if (found !== undefined) return found;
      if ((yield* tx.get(scopes, pid)) !== undefined) {
        throw new Error(`Cannot make scope "${pid}", expected a pid that is free`);
      }
      const kept: ScopeTarget =
        target.kind === "global" ? { kind: "global" } : { kind: "guild", guildId: target.guildId };
      const scope = { pid, account: owner.id, target: kept, settings: noSettings, epoch: 1 };
      yield* tx.put(scopes, scope);
      return dataScope(scope, owner);
    }),

  findScope: (account, target) =>
    db.read(function* (tx) {
      return Option.fromUndefinedOr(yield* scopeOf(tx, account, target));
    }),

  findScopeByPid: (pid) =>
    db.read(function* (tx) {
      const found = yield* tx.get(scopes, pid);
      return found === undefined ? Option.none() : Option.some(yield* configured(tx, found));
    }),

  listScopes: (account) =>
    db.read(function* (tx) {
      const owner = yield* accountNamed(tx, account);
      if (owner === undefined) return [];
      const found = yield* tx.list(scopes.byAccount, [owner.id]);
      return found
        .map((stored) => ({ scope: dataScope(stored, owner), settings: stored.settings }))
        .toSorted(scopeOrder);
    }),

  updateSettings: ({ update, ...write }) =>
    db.write(write.pid, function* (tx) {
      const scope = yield* scopeAt(tx, write.pid);
      const changed = changedSettings(scope.settings, update);
      if (changed.length === 0) return scope.settings;
      assertStorable(Object.values(update).filter((text) => typeof text === "string"));
      const settings = { ...scope.settings, ...update };
      const details = changeDetails(scope.settings, settings, changed);
      yield* record(tx, write.pid, logged(write, "account.updated", details));
      yield* tx.put(scopes, { ...scope, settings });
      return settings;
    }),

  insertKey: ({ key, hash, maxKeys, rate, ...write }) =>
    db.write(accountQueue(key.scope.account), function* (tx) {
      const kept = Struct.omit(key, ["scope", "suspended"]);
      const { id, status } = key;
      const { pid } = key.scope;
      const scope = yield* scopeAt(tx, pid);
      if ((yield* tx.get(keys, id)) !== undefined) return "exists";
      if ((yield* tx.list(keys.byHash, [hash])).length > 0) return "exists";
      if (maxKeys !== null) {
        const counted = yield* countedKeys(tx, scope.account);
        if (counted.filter((stored) => !isRevoked(stored)).length >= maxKeys) return "too_many_keys";
        const made = counted.filter((stored) => rate !== undefined && stored.key.createdAt >= rate.since);
        if (rate !== undefined && made.length >= rate.max) return "too_many_made";
      }
      assertStorable([hash, key.name]);
      yield* record(tx, pid, logged(write, "key.created", { keyId: id, status }));
      const stored: StoredKey = {
        key: kept,
        scope: refOf(scope),
        counts: maxKeys !== null,
        secrets: [{ hash, endsAt: null }],
        revokedAt: null,
      };
      const account = yield* accountAt(tx, scope.account);
      yield* tx.put(keys, status === "revoked" ? revokedKey(stored, account, write.at) : stored);
      return "inserted";
    }),

  findByHash: (hash) =>
    db.read(function* (tx) {
      const [stored] = yield* tx.list(keys.byHash, [hash], { limit: 1 });
      if (stored === undefined) return Option.none();
      const key = yield* apiKey(tx, stored);
      const secret = stored.secrets.find((each) => each.hash === hash);
      return Option.some({ key, endsAt: earlierEnd(key.expiresAt, secret?.endsAt ?? null) });
    }),

  findById: (id) =>
    db.read(function* (tx) {
      const stored = yield* tx.get(keys, id);
      return stored === undefined ? Option.none() : Option.some(yield* apiKey(tx, stored));
    }),

  findDetails: (id, at) =>
    db.read(function* (tx) {
      const stored = yield* tx.get(keys, id);
      return stored === undefined ? Option.none() : Option.some(yield* keyDetails(tx, stored, at));
    }),

  acceptedAmong: (ids, at) =>
    db.read(function* (tx) {
      const found = yield* tx.getAll(keys, ids, (id) => [id]);
      const accepted: Array<KeyId> = [];
      for (const stored of found) {
        if (stored !== undefined && isAccepted(yield* apiKey(tx, stored), at)) accepted.push(stored.key.id);
      }
      return accepted;
    }),

  listKeys: (account, at, some = "all") =>
    db.read(function* (tx) {
      const owner = account === null ? undefined : yield* accountNamed(tx, account);
      if (account !== null && owner === undefined) return [];
      const listed =
        owner === undefined
          ? tx.list(keys.byTime, [])
          : some === "all"
            ? tx.list(keys.byAccount, [owner.id])
            : livingKeys(tx, owner.id);
      const found = (yield* listed).filter((stored) => some === "all" || !isRevoked(stored));
      yield* tx.getAll(lastUses, found, ({ key }) => [key.id]);
      return yield* Effect.forEach(found, (stored) => keyDetails(tx, stored, at));
    }),

  listAccepted: (pid, at) =>
    db.read(function* (tx) {
      const found = yield* Effect.forEach(yield* tx.list(keys.byScope, [pid]), (stored) =>
        apiKey(tx, stored),
      );
      return found
        .filter((key) => isAccepted(key, at))
        .toSorted(Order.mapInput(Order.String, ({ id }) => id));
    }),

  hasKeys: (account) =>
    db.read(function* (tx) {
      const owner = yield* accountNamed(tx, account);
      return owner !== undefined && (yield* tx.list(keys.byAccount, [owner.id], { limit: 1 })).length > 0;
    }),

  countKeys: (account) =>
    db.read(function* (tx) {
      const owner = yield* accountNamed(tx, account);
      if (owner === undefined) return 0;
      return (yield* livingKeys(tx, owner.id)).filter(({ counts }) => counts).length;
    }),

  forgetRevoked: (before) =>
    Effect.gen(function* () {
      // No port asks for the rest of deletions that were interrupted.
      yield* purgeAll(db);
      const old = yield* db.read((tx) => tx.list(keys.revoked, [], { before: [before] }));
      // A key that is revoked has up to two secrets, and a last use.
      for (const part of Arr.chunksOf(old, itemsOf(db, 16))) {
        yield* db.write("revoked keys", function* (tx) {
          for (const { key } of part) {
            if ((yield* tx.count(kvTable(verificationSessions).byKey, [key.id])) > 0) continue;
            yield* tx.remove(keys, key.id);
            yield* tx.remove(kvTable(sessionBursts), key.id);
            yield* tx.remove(lastUses, key.id);
          }
        });
      }
    }),

  rotateKey: ({ id, hash, previousUntil, madeBy, ...write }) =>
    db.write(id, function* (tx) {
      const stored = yield* tx.get(keys, id);
      if (stored === undefined || isRevoked(stored)) return false;
      const isEnded = stored.secrets.some((secret) => secret.endsAt !== null && secret.hash === hash);
      if (!isEnded && (yield* tx.list(keys.byHash, [hash])).length > 0) {
        throw new Error(`Cannot rotate key "${id}": its new hash is the hash of another key`);
      }
      assertStorable([hash]);
      const { status } = stored.key;
      const details = { keyId: id, status };
      yield* record(tx, stored.scope.pid, logged(write, "key.rotated", details));
      // Of the earlier secrets, only the last one stays good.
      const previous = stored.secrets
        .filter(({ endsAt }) => endsAt === null)
        .map((secret) => ({ ...secret, endsAt: previousUntil }));
      const key = { ...stored.key, ...(madeBy !== undefined && { madeBy }) };
      yield* tx.put(keys, { ...stored, key, secrets: [...previous, { hash, endsAt: null }] });
      return true;
    }),

  updateKey: ({ id, update, action: asked, ...write }) =>
    db.write(id, function* (tx) {
      const stored = yield* tx.get(keys, id);
      if (stored === undefined) return "unknown";
      if (isRevoked(stored)) return "revoked";
      const account = yield* accountAt(tx, stored.scope.account);
      const updated = updatedKey(apiKeyOf(stored, account), update, asked);
      if (updated === null) return "unchanged";
      const { key, action, details } = updated;
      assertStorable([key.name]);
      yield* record(tx, stored.scope.pid, logged(write, action, details));
      const counts = key.kind === stored.key.kind ? stored.counts : key.kind === "normal";
      const kept = Struct.omit(key, ["scope", "suspended"]);
      const changed = { ...stored, key: kept, counts };
      yield* tx.put(keys, key.status === "revoked" ? revokedKey(changed, account, write.at) : changed);
      return "updated";
    }),
}));
