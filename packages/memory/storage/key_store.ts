import { type ApiKey, guildOf, type KeyId, type ScopeTarget } from "@accountlink/core";
import { changeDetails } from "@accountlink/core/audit";
import {
  type Account,
  changedSettings,
  earlierEnd,
  endOfAccount,
  isAccepted,
  isOperators,
  type KeyDetails,
  KeyStore,
  scopeOrder,
  shownName,
  type UpdateAccount,
  updatedKey,
} from "@accountlink/core/keys";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Clock, Effect, Option, Order } from "effect";
import { getOrInsert } from "../get_or_insert.ts";
import { pauseAll, releaseAccount } from "./account_end.ts";
import { ScopeLinks } from "./scope_links.ts";
import { layerOf, type StoredKey } from "./state.ts";

/** Finds keys by ID and by hash in O(1); lists and counts them by a scan. */
export const layer = layerOf(KeyStore, (memory) => {
  const { accounts, keys } = memory;

  const find = (id: KeyId | undefined) => Option.fromUndefinedOr(id === undefined ? undefined : keys.get(id));

  const findScope = (account: string, target: ScopeTarget) =>
    [...memory.links.values()].find(
      ({ scope }) => scope.account === account && guildOf(scope) === guildOf(target),
    )?.scope;

  const countKeys = (account: string) =>
    [...keys.values()].filter(
      ({ key, counts }) => key.scope.account === account && counts && key.status !== "revoked",
    ).length;

  return {
    ensureAccount: (made, ownerHash) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { name, chatId, tier } = made;
        assertStorable([name]);
        const account = getOrInsert(accounts, name, (): Account => {
          const isSuspended = ownerHash !== undefined && memory.suspendedOwners.delete(ownerHash);
          const status = isSuspended ? "suspended" : "active";
          return { name, chatId, tier, status, operator: isOperators(made) };
        });
        if (account.chatId !== null) {
          const members = getOrInsert(memory.members, name, () => new Map());
          const owner = { role: "owner", since: now, chosenAt: now, invitedBy: null };
          getOrInsert(members, account.chatId, () => owner);
        }
        return account;
      }),

    findAccount: (name) => Option.fromUndefinedOr(accounts.get(name)),
    listAccounts: () => [...accounts.values()].toSorted(Order.mapInput(Order.String, ({ name }) => name)),

    updateAccount: ({ name, update, ...origin }) => {
      const account = accounts.get(name);
      if (account === undefined) return Option.none();
      const changed = [...keys.values()].flatMap((stored) => {
        const key = keyOfUpdatedAccount(stored.key, update);
        return key.scope.account === name && key !== stored.key ? [{ ...stored, key }] : [];
      });
      const updated = { ...account, ...update };
      if (changed.length === 0 && updated.tier === account.tier && updated.status === account.status) {
        return Option.some({ changed: false, keys: [] });
      }
      const details = { ...update, keys: changed.length };
      memory.recordOfAccount({ ...origin, action: "account.updated", details }, name);
      accounts.set(name, updated);
      for (const stored of changed) keys.set(stored.key.id, stored);
      return Option.some({ changed: true, keys: changed.map(({ key }) => key.id) });
    },

    renameAccount: ({ name, displayName, ...origin }) => {
      assertStorable([displayName]);
      const account = accounts.get(name);
      if (account === undefined) return "unknown";
      const isTaken = [...accounts.values()].some(
        (other) => other !== account && [other.name, other.displayName].includes(displayName),
      );
      if (isTaken) return "taken";
      if (shownName(account) === displayName) return "unchanged";
      accounts.set(name, { ...account, displayName });
      memory.recordOfAccount({ ...origin, action: "account.updated", details: { name: displayName } }, name);
      return "renamed";
    },

    endAccount: ({ name, pseudonym, ...write }) => {
      assertStorable([pseudonym]);
      const account = accounts.get(name);
      if (account === undefined) return Option.none();
      const revoked = releaseAccount(memory, account, pseudonym, write.at);
      pauseAll(memory, pseudonym, write.at);
      memory.members.delete(pseudonym);
      memory.log = memory.log.map((entry) =>
        entry.account === pseudonym && entry.actor.type === "account"
          ? { ...entry, actor: { ...entry.actor, id: pseudonym } }
          : entry,
      );
      memory.recordOfAccount(endOfAccount(write, pseudonym, revoked), pseudonym);
      return Option.some(revoked);
    },

    ensureScope: (account, target, pid) => {
      if (!accounts.has(account)) {
        throw new Error(`Cannot make a scope of account "${account}", expected one that exists`);
      }
      const found = findScope(account, target);
      if (found !== undefined) return found;
      if (memory.links.has(pid)) throw new Error(`Cannot make scope "${pid}", expected a pid that is free`);
      const scope = { ...target, pid, account };
      memory.links.set(pid, new ScopeLinks(scope));
      return scope;
    },

    findScope: (account, target) => Option.fromUndefinedOr(findScope(account, target)),
    findScopeByPid: (pid) => Option.map(Option.fromUndefinedOr(memory.links.get(pid)), configuredScope),
    listScopes: (account) =>
      [...memory.links.values()]
        .filter(({ scope }) => scope.account === account)
        .map(configuredScope)
        .toSorted(scopeOrder),

    updateSettings: ({ update, ...write }) => {
      const links = memory.linksOf(write.pid);
      const changed = changedSettings(links.settings, update);
      if (changed.length === 0) return links.settings;
      assertStorable(Object.values(update).filter((value) => typeof value === "string"));
      const settings = { ...links.settings, ...update };
      const details = changeDetails(links.settings, settings, changed);
      memory.record({ ...write, action: "account.updated", details });
      links.settings = settings;
      return links.settings;
    },

    insertKey: ({ key, hash, maxKeys, rate, ...write }) => {
      const { id, status } = key;
      const { pid, account } = key.scope;
      memory.linksOf(pid);
      if (keys.has(id) || memory.keysByHash.has(hash)) return "exists";
      if (maxKeys !== null && countKeys(account) >= maxKeys) return "too_many_keys";
      if (maxKeys !== null && rate !== undefined) {
        const made = [...keys.values()].filter(
          ({ key: other, counts }) =>
            other.scope.account === account && counts && other.createdAt >= rate.since,
        );
        if (made.length >= rate.max) return "too_many_made";
      }
      assertStorable([hash, key.name]);
      memory.record({ ...write, pid, action: "key.created", details: { keyId: id, status } });
      keys.set(id, {
        key: { ...key, suspended: accounts.get(account)?.status === "suspended" },
        counts: maxKeys !== null,
        secrets: [{ hash, endsAt: null }],
        lastUsedAt: null,
        revokedAt: status === "revoked" ? write.at : null,
      });
      memory.keysByHash.set(hash, id);
      return "inserted";
    },

    findByHash: (hash) =>
      Option.map(find(memory.keysByHash.get(hash)), ({ key, secrets }) => {
        const secret = secrets.find((each) => each.hash === hash);
        return { key, endsAt: earlierEnd(key.expiresAt, secret?.endsAt ?? null) };
      }),
    findById: (id) => Option.map(find(id), ({ key }) => key),
    findDetails: (id, at) => Option.map(find(id), (stored) => detailsOf(stored, at)),
    acceptedAmong: (ids, at) => ids.filter((id) => Option.exists(find(id), ({ key }) => isAccepted(key, at))),

    listKeys: (account, at) =>
      Array.from(keys.values(), (stored) => detailsOf(stored, at))
        .filter(({ scope }) => account === null || scope.account === account)
        .toSorted((one, other) => one.createdAt - other.createdAt || Order.String(one.id, other.id)),

    listAccepted: (pid, at) =>
      [...keys.values()]
        .flatMap(({ key }) => (key.scope.pid === pid && isAccepted(key, at) ? [key] : []))
        .toSorted(Order.mapInput(Order.String, ({ id }) => id)),

    countKeys,

    forgetRevoked: (before) => {
      const used = new Set(Array.from(memory.sessions.values(), ({ session }) => session.keyId));
      for (const [id, { revokedAt, secrets }] of keys) {
        if (revokedAt === null || revokedAt >= before || used.has(id)) continue;
        keys.delete(id);
        memory.burstsFullAt.delete(id);
        for (const { hash } of secrets) memory.keysByHash.delete(hash);
      }
    },

    rotateKey: ({ id, hash, previousUntil, ...write }) => {
      const stored = keys.get(id);
      if (stored === undefined || stored.key.status === "revoked") return false;
      const isOver = ({ endsAt }: { readonly endsAt: Millis | null }) =>
        endsAt !== null && endsAt <= write.at;
      const ended = stored.secrets.filter(isOver);
      if (memory.keysByHash.has(hash) && !ended.some((secret) => secret.hash === hash)) {
        throw new Error(`Cannot rotate key "${id}": its new hash is the hash of another key`);
      }
      assertStorable([hash]);
      const { status, scope } = stored.key;
      memory.record({ ...write, pid: scope.pid, action: "key.rotated", details: { keyId: id, status } });
      for (const secret of ended) memory.keysByHash.delete(secret.hash);
      const earlier = stored.secrets
        .filter((secret) => !isOver(secret))
        .map((secret) => ({ ...secret, endsAt: earlierEnd(secret.endsAt, previousUntil) }));
      keys.set(id, { ...stored, secrets: [...earlier, { hash, endsAt: null }] });
      memory.keysByHash.set(hash, id);
      return true;
    },

    updateKey: ({ id, update, action, ...write }) => {
      const stored = keys.get(id);
      if (stored === undefined) return "unknown";
      if (stored.key.status === "revoked") return "revoked";
      const updated = updatedKey(stored.key, update, action);
      if (updated === null) return "unchanged";
      const { key, ...entry } = updated;
      assertStorable([key.name]);
      memory.record({ ...write, ...entry, pid: key.scope.pid });
      const counts = key.kind === stored.key.kind ? stored.counts : key.kind === "normal";
      keys.set(id, { ...stored, key, counts, revokedAt: key.status === "revoked" ? write.at : null });
      return "updated";
    },
  };
});

const configuredScope = ({ scope, settings }: ScopeLinks) => ({ scope, settings });

const detailsOf = ({ key, secrets, lastUsedAt, revokedAt }: StoredKey, at: Millis): KeyDetails => {
  const ends = secrets.flatMap(({ endsAt }) => (endsAt === null ? [] : [earlierEnd(endsAt, key.expiresAt)]));
  const latest = Math.max(...ends.map(Number));
  return { ...key, lastUsedAt, previousSecretEndsAt: latest > at ? latest : null, revokedAt };
};

/** Returns the key after an update of its account; the same key if nothing changes. */
const keyOfUpdatedAccount = (key: ApiKey, update: UpdateAccount["update"]): ApiKey => {
  if (key.status === "revoked") return key;
  if ("tier" in update) {
    return key.kind === "normal" && key.tier !== update.tier ? { ...key, tier: update.tier } : key;
  }
  const suspended = update.status === "suspended";
  return key.suspended === suspended ? key : { ...key, suspended };
};
