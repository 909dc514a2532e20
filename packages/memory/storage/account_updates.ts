import type { KeyId } from "@accountlink/core";
import {
  type Account,
  type AccountUpdated,
  keyOfUpdatedAccount,
  type UpdateAccount,
} from "@accountlink/core/keys";
import { Option } from "effect";
import type { Memory } from "./state/state.ts";

export const accountsOf = (memory: Memory): Array<Account> =>
  [...memory.accounts.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));

export const updateAccount = (memory: Memory, write: UpdateAccount): Option.Option<AccountUpdated> => {
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
