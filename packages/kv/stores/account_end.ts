/** The ends of accounts, in the transactions of several stores. */
import type { KeyId } from "@accountlink/core";
import { hasAccepted } from "@accountlink/core/accounts";
import type { StoreEffect } from "@accountlink/core/errors";
import { dropUploads } from "@accountlink/core/imports";
import { noSettings } from "@accountlink/core/keys";
import { siteSignIns } from "@accountlink/core/sign_ins";
import { pausePlans } from "@accountlink/core/storage";
import type { Millis } from "@accountlink/core/timestamp";
import { webhookRecords } from "@accountlink/core/webhooks";
import { Effect, Predicate, Struct } from "effect";
import { indexOfAccount, kvTable, txOf } from "../records.ts";
import { changeFirst, isFull, removeSome } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { keys, revokedKey } from "./keys.ts";
import { members } from "./members.ts";
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

/** Whether more records need a change, and the keys that were revoked. */
interface Closed {
  readonly revoked: ReadonlyArray<KeyId>;
  readonly isMore: boolean;
}

export const activeKeys = (tx: Transaction, account: number) =>
  Effect.map(tx.list(keys.byAccount, [account]), (found) =>
    found.filter(({ key }) => key.status !== "revoked"),
  );

/** The end of an account comes after the last step: an entry, the account's name and its owner. */
const keysOfEnd = 25;

/** Whether a step of the end of an account takes no further record. */
export const isAtEnd = (tx: Transaction): boolean => isFull(tx, keysOfEnd);

/** Revokes keys of an account that are not revoked, until the step ends. */
export const revokeSome = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
  isOver = isAtEnd,
): Effects<Closed> {
  const revoked: Array<KeyId> = [];
  const isMore = yield* changeFirst(
    tx,
    yield* activeKeys(tx, account.id),
    (stored) => {
      revoked.push(stored.key.id);
      return tx.put(keys, revokedKey(stored, account, at));
    },
    isOver,
  );
  return { revoked, isMore };
});

/** Pauses webhooks and role plans of an account until the step ends. Returns whether more may be left. */
export const pauseSome = Effect.fnUntraced(function* (
  tx: Transaction,
  { id, name }: StoredAccount,
  at: Millis,
  isOver = isAtEnd,
): Effects<boolean> {
  const sending = (yield* tx.list(webhooksOf, [id])).filter(({ status }) => status === "active");
  const isSending = yield* changeFirst(
    tx,
    sending,
    (webhook) => tx.put(webhooksOf.table, { ...webhook, status: "paused", failingSince: null }),
    isOver,
  );
  const isMore = yield* pausePlans(txOf(tx), name, at, () => isOver(tx));
  return isMore || isSending;
});

/** Revokes keys of an account, and pauses webhooks and role plans, until the step ends. */
export const closeSome = Effect.fnUntraced(function* (
  tx: Transaction,
  account: StoredAccount,
  at: Millis,
  isOver = isAtEnd,
): Effects<Closed> {
  const isActive = yield* pauseSome(tx, account, at, isOver);
  const { revoked, isMore } = yield* revokeSome(tx, account, at, isOver);
  return { revoked, isMore: isActive || isMore };
});

const emptied = { name: "", allowIps: [], denyIps: [], redirectOrigins: [], madeBy: null };

/**
 * Ends imports, invitations and sign-ins of members of an account, and clears the texts that the owner entered for keys,
 * scopes and webhooks, until the step ends. Returns whether more may be left.
 */
export const clearSome = Effect.fnUntraced(function* (
  tx: Transaction,
  { id, name }: StoredAccount,
  isOver = isAtEnd,
): Effects<boolean> {
  const invited = (yield* tx.scan(members, [id])).filter((member) => !hasAccepted(member));
  const named = (yield* tx.list(scopes.byAccount, [id])).filter(
    ({ settings }) => !isSame(settings, noSettings),
  );
  const described = (yield* tx.list(webhooksOf, [id])).filter(({ description }) => description !== "");
  const entered = (yield* tx.list(keys.byAccount, [id])).filter(
    ({ key }) => !isSame(Struct.pick(key, Struct.keys(emptied)), emptied),
  );
  if (isOver(tx)) return true;
  yield* dropUploads(txOf(tx), name);
  const areMore = yield* Effect.all([
    removeSome(tx, kvTable(siteSignIns).byAccount, [name], isOver),
    changeFirst(tx, invited, ({ chatId }) => tx.remove(members, id, chatId), isOver),
    changeFirst(tx, named, (scope) => tx.put(scopes, { ...scope, settings: noSettings }), isOver),
    changeFirst(tx, described, (each) => tx.put(webhooksOf.table, { ...each, description: "" }), isOver),
    changeFirst(
      tx,
      entered,
      (stored) => tx.put(keys, { ...stored, key: { ...stored.key, ...emptied } }),
      isOver,
    ),
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
