import {
  type ApiKey,
  type DataScope,
  guildOf,
  type KeyId,
  type Pid,
  type ScopeTarget,
} from "@accountlink/core";
import {
  type Account,
  type AccountUpdated,
  type ConfiguredScope,
  changedSettings,
  type InsertKey,
  isAccepted,
  type KeyDetails,
  KeyStore,
  type NewAccount,
  type RotateKey,
  type ScopeSettings,
  scopeOrder,
  type UpdateAccount,
  type UpdateKey,
  type UpdateScope,
  updatedKey,
} from "@accountlink/core/keys";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Clock, Effect, Option } from "effect";
import { getOrInsert } from "./state/get_or_insert.ts";
import { ScopeLinks } from "./state/scope_links.ts";
import { type Change, layerOf, type Memory } from "./state/state.ts";
import {
  countsNow,
  insertedKey,
  keyDetails,
  keyOfUpdatedAccount,
  oldestKeyFirst,
  presentedKey,
  rotatedKey,
  storedUpdate,
} from "./state/stored_key.ts";

/** Finds keys by ID and by hash in O(1); lists and counts them by a scan. */
export const layer = layerOf(KeyStore, (memory) => ({
  ensureAccount: (account, ownerHash) =>
    Effect.map(Clock.currentTimeMillis, (now) => ensureAccount(memory, account, ownerHash, now)),

  findAccount: (name) => Option.fromUndefinedOr(memory.accounts.get(name)),
  listAccounts: () => accountsOf(memory),
  updateAccount: (write) => updateAccount(memory, write),
  ensureScope: (account, target, pid) => ensureScope(memory, account, target, pid),
  findScope: (account, target) => Option.fromUndefinedOr(memory.scopes.get(account)?.get(guildOf(target))),
  findScopeByPid: (pid) => Option.map(Option.fromUndefinedOr(memory.links.get(pid)), configuredScope),

  listScopes: (account) =>
    [...(memory.scopes.get(account)?.values() ?? [])]
      .map(({ pid }) => configuredScope(memory.linksOf(pid)))
      .toSorted(scopeOrder),
  updateSettings: (write) => updateSettings(memory, write),

  insertKey: (write) => insertKey(memory, write),
  findByHash: (hash) => findByHash(memory, hash),
  findById: (id) => Option.fromUndefinedOr(memory.keys.get(id)?.key),
  findDetails: (id, at) =>
    Option.map(Option.fromUndefinedOr(memory.keys.get(id)), (stored) => keyDetails(stored, at)),
  acceptedAmong: (ids, at) =>
    ids.filter((id) => {
      const stored = memory.keys.get(id);
      return stored !== undefined && isAccepted(stored.key, at);
    }),
  listKeys: (account, at) => keysOf(memory, account, at).toSorted(oldestKeyFirst),
  countKeys: (account) => countKeys(memory, account),
  rotateKey: (write) => rotateKey(memory, write),
  updateKey: (write) => updateKey(memory, write),
}));

const configuredScope = ({ scope, settings }: ScopeLinks): ConfiguredScope => ({ scope, settings });

const ensureAccount = (
  memory: Memory,
  { name, chatId, tier }: NewAccount,
  ownerHash: string | undefined,
  now: Millis,
): Account => {
  assertStorable([name]);
  const account = getOrInsert(memory.accounts, name, (): Account => {
    const isSuspended = ownerHash !== undefined && memory.suspendedOwners.delete(ownerHash);
    return { name, chatId, tier, status: isSuspended ? "suspended" : "active" };
  });
  if (account.chatId !== null) {
    const members = getOrInsert(memory.members, name, () => new Map());
    getOrInsert(members, account.chatId, () => ({
      role: "owner",
      since: now,
      chosenAt: now,
      invitedBy: null,
    }));
  }
  return account;
};

const accountsOf = (memory: Memory): Array<Account> =>
  [...memory.accounts.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));

const updateAccount = (memory: Memory, write: UpdateAccount): Option.Option<AccountUpdated> => {
  const { name, update, actor, requestId, at } = write;
  const account = memory.accounts.get(name);
  if (account === undefined) return Option.none();
  const keys = [...memory.keys.values()].flatMap((stored) => {
    const key = keyOfUpdatedAccount(stored.key, update);
    return stored.key.scope.account === name && key !== null ? [{ stored, key }] : [];
  });
  const updated = { ...account, ...update };
  if (keys.length === 0 && updated.tier === account.tier && updated.status === account.status) {
    return Option.some({ changed: false, keys: [] });
  }
  const details = { ...update, keys: keys.length };
  memory.recordOfAccount({ actor, requestId, at, action: "account.updated", details }, name);
  memory.accounts.set(name, updated);
  for (const { stored, key } of keys) memory.keys.set(key.id, { ...stored, key });
  return Option.some({ changed: true, keys: keys.map(({ key }): KeyId => key.id) });
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

const updateSettings = (
  memory: Memory,
  { pid, update, actor, requestId, at }: UpdateScope,
): ScopeSettings => {
  const links = memory.linksOf(pid);
  const details = changedSettings(links.settings, update);
  if (details === null) return links.settings;
  assertStorable(Object.values(details).filter((text) => text !== null));
  memory.record({ actor, requestId, at, action: "account.updated", scope: links.scope, details });
  links.settings = { ...links.settings, ...details };
  return links.settings;
};

const keysOf = (memory: Memory, account: string | null, at: Millis): Array<KeyDetails> => {
  const keys = Array.from(memory.keys.values(), (stored) => keyDetails(stored, at));
  return account === null ? keys : keys.filter(({ scope }) => scope.account === account);
};

const insertKey = (memory: Memory, write: InsertKey) => {
  const { key, hash, maxKeys } = write;
  memory.linksOf(key.scope.pid);
  if (memory.keys.has(key.id) || memory.keysByHash.has(hash)) return "exists";

  if (maxKeys !== null && countKeys(memory, key.scope.account) >= maxKeys) return "too_many_keys";

  assertStorable([hash, key.name]);
  memory.record(keyChange(write, key, "key.created"));
  const suspended = memory.accounts.get(key.scope.account)?.status === "suspended";
  memory.keys.set(key.id, insertedKey(write, suspended));
  memory.keysByHash.set(hash, key.id);
  return "inserted";
};

const countKeys = (memory: Memory, account: string): number => {
  let count = 0;
  for (const stored of memory.keys.values()) {
    if (stored.key.scope.account === account && countsNow(stored)) count++;
  }
  return count;
};

const keyChange = (
  { actor, requestId, at }: Pick<Change, "actor" | "requestId" | "at">,
  { id, status, scope }: ApiKey,
  action: Change["action"],
): Change => ({ actor, requestId, at, action, scope, details: { keyId: id, status } });

const findByHash = (memory: Memory, hash: string) => {
  const id = memory.keysByHash.get(hash);
  const stored = id === undefined ? undefined : memory.keys.get(id);
  return Option.map(Option.fromUndefinedOr(stored), (found) => presentedKey(found, hash));
};

const rotateKey = (memory: Memory, write: RotateKey): boolean => {
  const stored = memory.keys.get(write.id);
  if (stored === undefined || stored.key.status === "revoked") return false;
  if (memory.keysByHash.has(write.hash)) {
    throw new Error(`Cannot rotate key "${write.id}": its new hash is the hash of another key`);
  }
  assertStorable([write.hash]);
  memory.record(keyChange(write, stored.key, "key.rotated"));
  memory.keys.set(write.id, rotatedKey(stored, write));
  memory.keysByHash.set(write.hash, write.id);
  return true;
};

const updateKey = (memory: Memory, write: UpdateKey) => {
  const stored = memory.keys.get(write.id);
  if (stored === undefined) return "unknown";
  if (stored.key.status === "revoked") return "revoked";
  const updated = updatedKey(stored.key, write.update, write.action);
  if (updated === null) return "unchanged";
  const { key, action, details } = updated;
  assertStorable([key.name]);
  const { actor, requestId, at } = write;
  memory.record({ actor, requestId, at, action, scope: key.scope, details });
  memory.keys.set(key.id, storedUpdate(stored, key, at));
  return "updated";
};
