/** `KeyStore` in memory. */
import {
  type ApiKey,
  type DataScope,
  guildOf,
  type KeyId,
  type Pid,
  type ScopeTarget,
} from "@accountlink/core";
import {
  type InsertKey,
  isAccepted,
  type KeyDetails,
  KeyStore,
  type RotateKey,
  type SetKeyStatus,
  type UpdateKey,
  updatedKey,
} from "@accountlink/core/keys";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Layer, Option } from "effect";
import { ScopeLinks } from "../links/scope_links.ts";
import { type Change, type Memory, State, type StoredKey } from "../state.ts";
import { accountsOf, updateAccount } from "./account_updates.ts";

/** Finds keys by ID and by hash in O(1); lists and counts them by a scan. */
export const layer: Layer.Layer<KeyStore, never, State> = Layer.effect(
  KeyStore,
  Effect.map(State, (memory) =>
    KeyStore.of({
      ensureAccount: (account) =>
        Effect.sync(() => {
          assertStorable([account.name]);
          return getOrInsert(memory.accounts, account.name, () => ({ ...account, status: "active" }));
        }),

      findAccount: (name) => Effect.sync(() => Option.fromUndefinedOr(memory.accounts.get(name))),
      findAccountByChatId: (chatId) =>
        Effect.sync(() => Arr.findFirst(accountsOf(memory), (account) => account.chatId === chatId)),
      listAccounts: () => Effect.sync(() => accountsOf(memory)),
      updateAccount: (write) => Effect.sync(() => updateAccount(memory, write)),
      ensureScope: (account, target, pid) => Effect.sync(() => ensureScope(memory, account, target, pid)),
      findScope: (account, target) =>
        Effect.sync(() => Option.fromUndefinedOr(memory.scopes.get(account)?.get(guildOf(target)))),
      findScopeByPid: (pid) => Effect.sync(() => Option.fromUndefinedOr(memory.links.get(pid)?.scope)),

      insertKey: (write) => Effect.sync(() => insertKey(memory, write)),
      findByHash: (hash) => Effect.sync(() => findByHash(memory, hash)),
      findById: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.keys.get(id)?.key)),
      findDetails: (id, at) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(memory.keys.get(id)), (stored) => detailsOf(stored, at)),
        ),
      acceptedAmong: (ids, at) =>
        Effect.sync(() =>
          ids.filter((id) => {
            const stored = memory.keys.get(id);
            return stored !== undefined && isAccepted(stored.key, at);
          }),
        ),
      listKeys: (account, at) => Effect.sync(() => keysOf(memory, account, at).toSorted(oldestFirst)),
      countKeys: (account) => Effect.sync(() => countKeys(memory, account)),
      rotateKey: (write) => Effect.sync(() => rotateKey(memory, write)),
      updateKey: (write) => Effect.sync(() => updateKey(memory, write)),
      setKeyStatus: (write) => Effect.sync(() => setKeyStatus(memory, write)),
    }),
  ),
);

const getOrInsert = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
};

const ensureScope = (memory: Memory, account: string, target: ScopeTarget, pid: Pid): DataScope => {
  if (!memory.accounts.has(account)) {
    throw new Error(`Cannot make a scope of account "${account}", expected one that exists`);
  }
  const scopes = getOrInsert(memory.scopes, account, () => new Map<string | null, DataScope>());
  return getOrInsert(scopes, guildOf(target), () => {
    if (memory.links.has(pid)) throw new Error(`Cannot make scope "${pid}", expected a pid that is free`);
    const scope = { ...target, pid, account };
    memory.links.set(pid, new ScopeLinks(scope));
    return scope;
  });
};

const keysOf = (memory: Memory, account: string | null, at: Millis): Array<KeyDetails> => {
  const keys = Array.from(memory.keys.values(), (stored) => detailsOf(stored, at));
  return account === null ? keys : keys.filter(({ scope }) => scope.account === account);
};

const detailsOf = ({ key, secrets, lastUsedAt, revokedAt }: StoredKey, at: Millis): KeyDetails => {
  const ends = secrets.flatMap(({ endsAt }) => (endsAt === null ? [] : [earlier(endsAt, key.expiresAt)]));
  const latest = Math.max(...ends.map(Number));
  return { ...key, lastUsedAt, previousSecretEndsAt: latest > at ? latest : null, revokedAt };
};

const oldestFirst = (one: ApiKey, other: ApiKey): number =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1);

const insertKey = (memory: Memory, write: InsertKey) => {
  const { key, hash, maxKeys } = write;
  memory.linksOf(key.scope.pid);
  if (memory.keys.has(key.id) || memory.keysByHash.has(hash)) return "exists";

  if (maxKeys !== null && countKeys(memory, key.scope.account) >= maxKeys) return "too_many_keys";

  assertStorable([hash, key.name]);
  memory.record(keyChange(write, key, "key.created"));
  const revokedAt = key.status === "revoked" ? write.at : null;
  const suspended = memory.accounts.get(key.scope.account)?.status === "suspended";
  const stored: StoredKey = {
    key: { ...key, suspended },
    counts: maxKeys !== null,
    secrets: [],
    lastUsedAt: null,
    revokedAt,
  };
  memory.keys.set(key.id, stored);
  addSecret(memory, stored, hash);
  return "inserted";
};

const countKeys = (memory: Memory, account: string): number => {
  let count = 0;
  for (const { key, counts } of memory.keys.values()) {
    if (counts && key.scope.account === account && key.status !== "revoked") count++;
  }
  return count;
};

const addSecret = (memory: Memory, stored: StoredKey, hash: string): void => {
  const secret = { hash, endsAt: null };
  stored.secrets.push(secret);
  memory.keysByHash.set(hash, { stored, secret });
};

const keyChange = (
  { actor, requestId, at }: Pick<Change, "actor" | "requestId" | "at">,
  { id, status, scope }: ApiKey,
  action: Change["action"],
): Change => ({ actor, requestId, at, action, scope, details: { keyId: id, status } });

const findByHash = (memory: Memory, hash: string) =>
  Option.map(Option.fromUndefinedOr(memory.keysByHash.get(hash)), ({ stored: { key }, secret }) => ({
    key,
    endsAt: earlier(key.expiresAt, secret.endsAt),
  }));

/** The earlier of two ends; null is never. */
const earlier = (one: Millis | null, other: Millis | null): Millis | null => {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
};

const findUnrevoked = (memory: Memory, id: KeyId): StoredKey | undefined => {
  const stored = memory.keys.get(id);
  return stored?.key.status === "revoked" ? undefined : stored;
};

const rotateKey = (memory: Memory, write: RotateKey): boolean => {
  const stored = findUnrevoked(memory, write.id);
  if (stored === undefined) return false;
  if (memory.keysByHash.has(write.hash)) {
    throw new Error(`Cannot rotate key "${write.id}": the hash is taken, expected that of a new secret`);
  }
  assertStorable([write.hash]);
  memory.record(keyChange(write, stored.key, "key.rotated"));
  for (const secret of stored.secrets) secret.endsAt = earlier(secret.endsAt, write.previousUntil);
  addSecret(memory, stored, write.hash);
  return true;
};

const updateKey = (memory: Memory, write: UpdateKey) => {
  const stored = memory.keys.get(write.id);
  if (stored === undefined) return "unknown";
  if (stored.key.status === "revoked") return "revoked";
  const updated = updatedKey(stored.key, write.update);
  if (updated === null) return "unchanged";
  const { key, action, details } = updated;
  assertStorable([key.name]);
  const { actor, requestId, at } = write;
  memory.record({ actor, requestId, at, action, scope: key.scope, details });
  if (key.kind !== stored.key.kind) stored.counts = key.kind === "normal";
  stored.key = key;
  return "updated";
};

const setKeyStatus = (memory: Memory, write: SetKeyStatus): boolean => {
  const stored = findUnrevoked(memory, write.id);
  if (stored === undefined || stored.key.status === write.status) return false;
  const key = { ...stored.key, status: write.status };
  memory.record(keyChange(write, key, write.action));
  stored.key = key;
  if (write.status === "revoked") stored.revokedAt = write.at;
  return true;
};
