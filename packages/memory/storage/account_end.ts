import type { KeyId } from "@accountlink/core";
import { hasAccepted } from "@accountlink/core/accounts";
import { type Account, noSettings } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import type { Memory } from "./state.ts";

/** Revokes the keys of an account, and returns their IDs. */
const revokeKeys = (memory: Memory, account: string, at: Millis): ReadonlyArray<KeyId> => {
  const active = [...memory.keys.values()].filter(
    ({ key }) => key.scope.account === account && key.status !== "revoked",
  );
  for (const stored of active) {
    memory.keys.set(stored.key.id, { ...stored, key: { ...stored.key, status: "revoked" }, revokedAt: at });
  }
  return active.map(({ key }) => key.id);
};

/** Pauses the webhooks and role plans of an account. */
export const pauseAll = (memory: Memory, account: string, at: Millis): void => {
  for (const [id, webhook] of memory.webhooks) {
    if (webhook.scope.account !== account || webhook.status !== "active") continue;
    memory.webhooks.set(id, { ...webhook, status: "paused", failingSince: null });
  }
  for (const [place, plan] of memory.rolePlans) {
    const { settings } = plan;
    if (memory.linksOf(plan.pid).scope.account !== account || settings.state !== "on") continue;
    const paused = { ...settings, state: "paused" } as const;
    memory.rolePlans.set(place, {
      ...plan,
      settings: paused,
      revision: plan.revision + 1,
      sweep: null,
      pausedAt: at,
    });
  }
};

/** Revokes the keys of an account, and pauses its webhooks and role plans. Returns the revoked keys. */
export const closeAccount = (memory: Memory, account: string, at: Millis): ReadonlyArray<KeyId> => {
  pauseAll(memory, account, at);
  return revokeKeys(memory, account, at);
};

/**
 * Removes the chat ID and the names of an account, which is `pseudonym` from then on. Revokes its keys, ends its
 * invitations and its members' sign-ins, and clears the texts that the owner entered for keys, scopes and webhooks.
 * Returns the revoked keys.
 */
export const releaseAccount = (
  memory: Memory,
  { name, tier, status }: Account,
  pseudonym: string,
  at: Millis,
): ReadonlyArray<KeyId> => {
  memory.imports.delete(name);
  memory.accounts.delete(name);
  memory.accounts.set(pseudonym, { name: pseudonym, chatId: null, tier, status, operator: false });
  for (const { id, account } of memory.signIns.values()) if (account === name) memory.signIns.delete(id);
  const accepted = [...(memory.members.get(name) ?? [])].filter(([, member]) => hasAccepted(member));
  memory.members.delete(name);
  memory.members.set(pseudonym, new Map(accepted));
  memory.log = memory.log.map((entry) => (entry.account === name ? { ...entry, account: pseudonym } : entry));
  for (const links of memory.links.values()) {
    if (links.scope.account !== name) continue;
    links.scope = { ...links.scope, account: pseudonym };
    links.settings = noSettings;
  }
  for (const [id, webhook] of memory.webhooks) {
    if (webhook.scope.account !== name) continue;
    memory.webhooks.set(id, { ...webhook, scope: { ...webhook.scope, account: pseudonym }, description: "" });
  }
  for (const [id, stored] of memory.keys) {
    if (stored.key.scope.account !== name) continue;
    const scope = { ...stored.key.scope, account: pseudonym };
    const emptied = { name: "", allowIps: [], denyIps: [], redirectOrigins: [] };
    memory.keys.set(id, { ...stored, key: { ...stored.key, ...emptied, scope } });
  }
  return revokeKeys(memory, pseudonym, at);
};
