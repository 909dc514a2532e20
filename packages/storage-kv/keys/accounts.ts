import { type DataScope, guildOf, type Pid, type ScopeTarget } from "@accountlink/core";
import {
  type Account,
  type AccountUpdated,
  keyOfUpdatedAccount,
  type NewAccount,
  type UpdateAccount,
} from "@accountlink/core/keys";
import { Effect, Option } from "effect";
import { recordChange } from "../audit/record_change.ts";
import { accounts, keys, scopes } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

export const ensureAccount = Effect.fnUntraced(function* (tx: Transaction, account: NewAccount) {
  const found = yield* accounts.find(tx, account.name);
  if (found !== undefined) return found;
  const created: Account = { ...account, status: "active" };
  yield* accounts.put(tx, created);
  return created;
});

export const byName = (one: Account, other: Account): number => (one.name < other.name ? -1 : 1);

export const findScope = (tx: Transaction, account: string, target: ScopeTarget) =>
  Effect.map(
    scopes.list(tx, "target", [account, guildOf(target) ?? "global"], { limit: 1 }),
    ([scope]) => scope,
  );

export const ensureScope = Effect.fnUntraced(function* (
  tx: Transaction,
  account: string,
  target: ScopeTarget,
  pid: Pid,
) {
  if ((yield* accounts.find(tx, account)) === undefined) {
    throw new Error(`Cannot make a scope of account "${account}", expected one that exists`);
  }
  const found = yield* findScope(tx, account, target);
  if (found !== undefined) return found;
  if ((yield* scopes.find(tx, pid)) !== undefined) {
    throw new Error(`Cannot make scope "${pid}", expected a pid that is free`);
  }
  const scope: DataScope = { ...target, pid, account };
  yield* scopes.put(tx, scope);
  return scope;
});

export const updateAccount = Effect.fnUntraced(function* (
  tx: Transaction,
  { name, update, actor, requestId, at }: UpdateAccount,
) {
  const account = yield* accounts.find(tx, name);
  if (account === undefined) return Option.none<AccountUpdated>();
  const changed = (yield* keys.list(tx, "account", [name])).flatMap((stored) => {
    const key = keyOfUpdatedAccount(stored.key, update);
    return key === null ? [] : [{ ...stored, key }];
  });
  const updated = { ...account, ...update };
  if (changed.length === 0 && updated.tier === account.tier && updated.status === account.status) {
    return Option.some<AccountUpdated>({ changed: false, keys: [] });
  }
  const details = { ...update, keys: changed.length };
  yield* recordChange(tx, { actor, requestId, at, action: "account.updated", of: name, details });
  yield* accounts.put(tx, updated);
  for (const stored of changed) yield* keys.put(tx, stored);
  return Option.some<AccountUpdated>({ changed: true, keys: changed.map(({ key }) => key.id) });
});

/** The scope; a defect if it does not exist. */
export const requireScope = Effect.fnUntraced(function* (tx: Transaction, pid: Pid) {
  const scope = yield* scopes.find(tx, pid);
  if (scope === undefined) throw new Error(`Cannot write to scope "${pid}", expected one that exists`);
  return scope;
});
