/** The ends of accounts, in the transactions of several stores. */
import type { KeyId } from "@accountlink/core";
import { hasAccepted } from "@accountlink/core/accounts";
import { pauseFor, turned } from "@accountlink/core/communities";
import type { StoreEffect } from "@accountlink/core/errors";
import { noSettings } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { Transaction } from "../transaction.ts";
import { putLinking } from "./communities.ts";
import { deleteImport, imports } from "./imports.ts";
import { keys, revokedKey } from "./keys.ts";
import { members } from "./members.ts";
import { plans } from "./role_plans.ts";
import { accounts, type StoredAccount, scopes } from "./scopes.ts";
import { signIns } from "./sign_in_store.ts";
import { webhooks } from "./webhooks.ts";

type Effects<A> = Effect.fn.Return<A, Effect.Error<StoreEffect<never>>>;

/** Revokes the keys of an account. Returns the keys that were not revoked before. */
const revokeKeys = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
): Effects<ReadonlyArray<KeyId>> {
  const revoked: Array<KeyId> = [];
  for (const stored of yield* tx.list(keys.byAccount, [account.id])) {
    if (stored.key.status === "revoked") continue;
    revoked.push(stored.key.id);
    yield* tx.put(keys, revokedKey(stored, account, at));
  }
  return revoked;
});

/** Pauses the webhooks and role plans of an account. */
export const pauseAll = Effect.fnUntraced(function* (
  tx: Transaction,
  account: number,
  at: Millis,
): Effects<void> {
  for (const stored of yield* tx.list(webhooks.byAccount, [account])) {
    const { webhook } = stored;
    if (webhook.status !== "active") continue;
    yield* tx.put(webhooks, { ...stored, webhook: { ...webhook, status: "paused", failingSince: null } });
  }
  for (const plan of yield* tx.list(plans.byAccount, [account])) {
    const { settings, revision } = plan;
    if (settings.state !== "on") continue;
    const paused = { ...settings, state: "paused" } as const;
    yield* putLinking(tx, plan, (linking) => turned(linking, "paused", pauseFor("account_closed", at)));
    yield* tx.put(plans, { ...plan, settings: paused, revision: revision + 1, sweep: null });
  }
});

/** Revokes the keys of an account, and pauses its webhooks and role plans. Returns the revoked keys. */
export const closeAccount = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
): Effects<ReadonlyArray<KeyId>> {
  yield* pauseAll(tx, account.id, at);
  return yield* revokeKeys(tx, account, at);
});

/**
 * Removes the chat ID and the names of an account, which is `pseudonym` from then on. Revokes its keys, ends its
 * invitations and its members' sign-ins, and clears the texts that the owner entered for keys, scopes and webhooks.
 * Returns the revoked keys.
 */
export const releaseAccount = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  pseudonym: string,
  at: Millis,
): Effects<ReadonlyArray<KeyId>> {
  const { id, name, tier, status } = account;
  for (const one of yield* tx.list(imports.byAccount, [name])) yield* deleteImport(tx, one);
  const released = { id, name: pseudonym, chatId: null, tier, status, operator: false };
  yield* tx.put(accounts, released);
  for (const signIn of yield* tx.list(signIns.byAccount, [name])) yield* tx.remove(signIns, signIn.id);
  for (const member of yield* tx.scan(members, [id])) {
    if (!hasAccepted(member)) yield* tx.remove(members, id, member.chatId);
  }
  for (const scope of yield* tx.list(scopes.byAccount, [id])) {
    yield* tx.put(scopes, { ...scope, settings: noSettings });
  }
  for (const stored of yield* tx.list(webhooks.byAccount, [id])) {
    yield* tx.put(webhooks, { ...stored, webhook: { ...stored.webhook, description: "" } });
  }
  const emptied = { name: "", allowIps: [], denyIps: [], redirectOrigins: [] };
  for (const stored of yield* tx.list(keys.byAccount, [id])) {
    yield* tx.put(keys, { ...stored, key: { ...stored.key, ...emptied } });
  }
  return yield* revokeKeys(tx, released, at);
});
