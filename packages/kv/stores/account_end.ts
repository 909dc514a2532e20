/** The ends of accounts, in the transactions of several stores. */
import type { KeyId } from "@accountlink/core";
import { hasAccepted } from "@accountlink/core/accounts";
import { pauseFor, turned } from "@accountlink/core/communities";
import type { StoreEffect } from "@accountlink/core/errors";
import { noSettings } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Struct } from "effect";
import type { Transaction } from "../transaction.ts";
import { putLinking } from "./communities.ts";
import { deleteImport, imports } from "./imports.ts";
import { keys, revokedKey } from "./keys.ts";
import { members } from "./members.ts";
import { isOn, plans } from "./role_plans.ts";
import { accounts, type StoredAccount, scopes } from "./scopes.ts";
import { signIns } from "./sign_in_store.ts";
import { webhooks } from "./webhooks.ts";

type Effects<A> = Effect.fn.Return<A, Effect.Error<StoreEffect<never>>>;

/** Whether more than `limit` records needed a change, and the keys that were revoked. */
interface Closed {
  readonly revoked: ReadonlyArray<KeyId>;
  readonly isMore: boolean;
}

/** Revokes up to `limit` keys of an account that are not revoked. */
export const revokeSome = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
  limit: number,
): Effects<Closed> {
  const active = (yield* tx.list(keys.byAccount, [account.id])).filter(({ key }) => key.status !== "revoked");
  const some = active.slice(0, limit);
  for (const stored of some) yield* tx.put(keys, revokedKey(stored, account, at));
  return { revoked: some.map(({ key }) => key.id), isMore: active.length > limit };
});

/** Pauses up to `limit` webhooks and role plans of an account. Returns whether more are left. */
export const pauseSome = Effect.fnUntraced(function* (
  tx: Transaction,
  account: number,
  at: Millis,
  limit: number,
): Effects<boolean> {
  const sending = (yield* tx.list(webhooks.byAccount, [account])).filter(
    ({ webhook }) => webhook.status === "active",
  );
  for (const stored of sending.slice(0, limit)) {
    const webhook = { ...stored.webhook, status: "paused", failingSince: null } as const;
    yield* tx.put(webhooks, { ...stored, webhook });
  }
  const on = (yield* tx.list(plans.byAccount, [account])).filter(isOn);
  for (const plan of on.slice(0, limit)) {
    const paused = { ...plan.settings, state: "paused" } as const;
    yield* putLinking(tx, plan, (linking) => turned(linking, "paused", pauseFor("account_closed", at)));
    yield* tx.put(plans, { ...plan, settings: paused, revision: plan.revision + 1, sweep: null });
  }
  return sending.length > limit || on.length > limit;
});

/** Revokes up to `limit` keys of an account, and pauses up to `limit` webhooks and role plans. */
export const closeSome = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
  limit: number,
): Effects<Closed> {
  const isActive = yield* pauseSome(tx, account.id, at, limit);
  const { revoked, isMore } = yield* revokeSome(tx, account, at, limit);
  return { revoked, isMore: isActive || isMore };
});

const emptied = { name: "", allowIps: [], denyIps: [], redirectOrigins: [] };

/**
 * Ends up to `limit` imports, invitations and sign-ins of members of an account, and clears the texts that the owner
 * entered for up to `limit` keys, scopes and webhooks. Returns whether more may be left.
 */
export const clearSome = Effect.fnUntraced(function* (
  tx: Transaction,
  { id, name }: StoredAccount,
  limit: number,
): Effects<boolean> {
  const begun = yield* tx.list(imports.byAccount, [name], { limit });
  for (const one of begun) yield* deleteImport(tx, one);
  const ofMembers = yield* tx.list(signIns.byAccount, [name], { limit });
  for (const signIn of ofMembers) yield* tx.remove(signIns, signIn.id);
  const invited = (yield* tx.scan(members, [id])).filter((member) => !hasAccepted(member));
  for (const member of invited.slice(0, limit)) yield* tx.remove(members, id, member.chatId);
  const named = (yield* tx.list(scopes.byAccount, [id])).filter(
    ({ settings }) => !isSame(settings, noSettings),
  );
  for (const scope of named.slice(0, limit)) yield* tx.put(scopes, { ...scope, settings: noSettings });
  const described = (yield* tx.list(webhooks.byAccount, [id])).filter(
    ({ webhook }) => webhook.description !== "",
  );
  for (const stored of described.slice(0, limit)) {
    yield* tx.put(webhooks, { ...stored, webhook: { ...stored.webhook, description: "" } });
  }
  const entered = (yield* tx.list(keys.byAccount, [id])).filter(
    ({ key }) => !isSame(Struct.pick(key, Struct.keys(emptied)), emptied),
  );
  for (const stored of entered.slice(0, limit)) {
    yield* tx.put(keys, { ...stored, key: { ...stored.key, ...emptied } });
  }
  const full = begun.length === limit || ofMembers.length === limit;
  return full || [invited, named, described, entered].some(({ length }) => length > limit);
});

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Gives an account that was cleared its pseudonym, and takes its chat ID. */
export const releaseAccount = Effect.fnUntraced(function* (
  tx: Transaction,
  { id, tier, status }: StoredAccount,
  pseudonym: string,
): Effects<void> {
  yield* tx.put(accounts, { id, name: pseudonym, chatId: null, tier, status, operator: false });
});
