/** The ends of accounts, in the transactions of several stores. */
import { hasAccepted, memberRecords } from "@accountlink/core/accounts";
import type { StoreEffect } from "@accountlink/core/errors";
import { dropUploads } from "@accountlink/core/imports";
import { noSettings } from "@accountlink/core/keys";
import { siteSignIns } from "@accountlink/core/sign_ins";
import { webhookRecords } from "@accountlink/core/webhooks";
import { Effect, Struct } from "effect";
import { indexOfAccount, kvTable, txOf } from "../records.ts";
import { changeFirst, isAtEnd, removeSome } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { keys } from "./keys.ts";
import { accounts, type StoredAccount, scopes } from "./scopes.ts";

const webhooksOf = indexOfAccount(webhookRecords);

export const members = kvTable(memberRecords);

type Effects<A> = Effect.fn.Return<A, Effect.Error<StoreEffect<never>>>;

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
  const invited = (yield* tx.list(members.byAccount, [id])).filter((member) => !hasAccepted(member));
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
