import type { KeyId } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";
import type { Memory } from "./state.ts";

/** Revokes the keys of an account, and returns their IDs. */
export const revokeKeys = (memory: Memory, account: string, at: Millis): ReadonlyArray<KeyId> => {
  const active = [...memory.keys.values()].filter(
    ({ key }) => key.scope.account === account && key.status !== "revoked",
  );
  for (const stored of active) {
    memory.keys.set(stored.key.id, { ...stored, key: { ...stored.key, status: "revoked" }, revokedAt: at });
  }
  return active.map(({ key }) => key.id);
};

/** Pauses the webhooks and role plans of an account. */
export const pauseAll = (memory: Memory, account: string): void => {
  for (const [id, webhook] of memory.webhooks) {
    if (webhook.scope.account !== account || webhook.status !== "active") continue;
    memory.webhooks.set(id, { ...webhook, status: "paused", failingSince: null });
  }
  for (const [place, plan] of memory.rolePlans) {
    const { settings } = plan;
    if (memory.linksOf(plan.pid).scope.account !== account || settings.state !== "on") continue;
    const paused = { ...settings, state: "paused" } as const;
    memory.rolePlans.set(place, { ...plan, settings: paused, revision: plan.revision + 1, sweep: null });
  }
};

/** Revokes the keys of an account, and pauses its webhooks and role plans. Returns the revoked keys. */
export const closeAccount = (memory: Memory, account: string, at: Millis): ReadonlyArray<KeyId> => {
  pauseAll(memory, account);
  return revokeKeys(memory, account, at);
};
