/** The ends of accounts, in the transactions of several stores. */
import type { KeyId } from "@accountlink/core";
import { hasAccepted } from "@accountlink/core/accounts";
import { pauseFor, turned } from "@accountlink/core/communities";
import type { StoreEffect } from "@accountlink/core/errors";
import { noSettings } from "@accountlink/core/keys";
import { siteSignIns } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import { webhookRecords } from "@accountlink/core/webhooks";
import { Effect, Predicate, Struct } from "effect";
import { indexOfAccount, kvTable } from "../records.ts";
import { removeSome } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { putLinking } from "./communities.ts";
import { imports } from "./imports.ts";
import { keys, revokedKey } from "./keys.ts";
import { members } from "./members.ts";
import { isOn, plans } from "./role_plans.ts";
import { accounts, type StoredAccount, scopes } from "./scopes.ts";

const webhooksOf = indexOfAccount(webhookRecords);

type Effects<A> = Effect.fn.Return<A, Effect.Error<StoreEffect<never>>>;

/** The keys that a step changed, while more of the account is to be changed. */
export interface Unfinished {
  readonly unfinished: ReadonlyArray<KeyId>;
}

/** Repeats a change of an account until nothing is left to change. */
export const changeInSteps = Effect.fnUntraced(function* <A, E>(
  change: (before: ReadonlyArray<KeyId>) => Effect.Effect<A | Unfinished, E>,
) {
  const before: Array<KeyId> = [];
  for (;;) {
    const changed = yield* change(before);
    if (!Predicate.hasProperty(changed, "unfinished")) return changed;
    before.push(...changed.unfinished);
  }
});

/** Whether more than `limit` records needed a change, and the keys that were revoked. */
interface Closed {
  readonly revoked: ReadonlyArray<KeyId>;
  readonly isMore: boolean;
}

export const activeKeys = (tx: Transaction, account: number) =>
  Effect.map(tx.list(keys.byAccount, [account]), (found) =>
    found.filter(({ key }) => key.status !== "revoked"),
  );

/** Changes the first `limit` records. Returns whether others are left. */
const changeFirst = Effect.fnUntraced(function* <R>(
  found: ReadonlyArray<R>,
  limit: number,
  change: (record: R) => StoreEffect<unknown>,
): Effects<boolean> {
  for (const record of found.slice(0, limit)) yield* change(record);
  return found.length > limit;
});

/** Revokes up to `limit` keys of an account that are not revoked. */
export const revokeSome = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
  limit: number,
): Effects<Closed> {
  const active = yield* activeKeys(tx, account.id);
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
  const sending = (yield* tx.list(webhooksOf, [account])).filter(({ status }) => status === "active");
  const isSending = yield* changeFirst(sending, limit, (webhook) =>
    tx.put(webhooksOf.table, { ...webhook, status: "paused", failingSince: null }),
  );
  const on = (yield* tx.list(plans.byAccount, [account])).filter(isOn);
  for (const plan of on.slice(0, limit)) {
    const paused = { ...plan.settings, state: "paused" } as const;
    yield* putLinking(tx, plan, (linking) => turned(linking, "paused", pauseFor("account_closed", at)));
    yield* tx.put(plans, { ...plan, settings: paused, revision: plan.revision + 1, sweep: null });
  }
  return isSending || on.length > limit;
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

const emptied = { name: "", allowIps: [], denyIps: [], redirectOrigins: [], madeBy: null };

/**
 * Ends up to `limit` imports, invitations and sign-ins of members of an account, and clears the texts that the owner
 * entered for up to `limit` keys, scopes and webhooks. Returns whether more may be left.
 */
export const clearSome = Effect.fnUntraced(function* (
  tx: Transaction,
  { id, name }: StoredAccount,
  limit: number,
): Effects<boolean> {
  const invited = (yield* tx.scan(members, [id])).filter((member) => !hasAccepted(member));
  const named = (yield* tx.list(scopes.byAccount, [id])).filter(
    ({ settings }) => !isSame(settings, noSettings),
  );
  const described = (yield* tx.list(webhooksOf, [id])).filter(({ description }) => description !== "");
  const entered = (yield* tx.list(keys.byAccount, [id])).filter(
    ({ key }) => !isSame(Struct.pick(key, Struct.keys(emptied)), emptied),
  );
  const areMore = yield* Effect.all([
    removeSome(tx, imports.byAccount, [name], limit),
    removeSome(tx, kvTable(siteSignIns).byAccount, [name], limit),
    changeFirst(invited, limit, ({ chatId }) => tx.remove(members, id, chatId)),
    changeFirst(named, limit, (scope) => tx.put(scopes, { ...scope, settings: noSettings })),
    changeFirst(described, limit, (webhook) => tx.put(webhooksOf.table, { ...webhook, description: "" })),
    changeFirst(entered, limit, (stored) => tx.put(keys, { ...stored, key: { ...stored.key, ...emptied } })),
  ]);
  return areMore.includes(true);
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
