/** What the owners of scopes say to users who verify. */
import type { DataScope, Pid } from "@accountlink/core";
import { changedSettings, noSettings, scopeOrder, type UpdateScope } from "@accountlink/core/keys";
import { Effect, Option } from "effect";
import { recordChange } from "../audit/record_change.ts";
import { scopes, settings } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { requireScope } from "./accounts.ts";

const configured = (tx: Transaction, scope: DataScope) =>
  Effect.map(settings.find(tx, scope.pid), (found) => ({ scope, settings: found?.settings ?? noSettings }));

export const findScopeByPid = Effect.fnUntraced(function* (tx: Transaction, pid: Pid) {
  const scope = yield* scopes.find(tx, pid);
  return scope === undefined ? Option.none() : Option.some(yield* configured(tx, scope));
});

export const listScopes = Effect.fnUntraced(function* (tx: Transaction, account: string) {
  const found = yield* scopes.list(tx, "target", [account]);
  const all = yield* Effect.forEach(found, (scope) => configured(tx, scope));
  return all.toSorted(scopeOrder);
});

export const updateSettings = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, update, ...origin }: UpdateScope,
) {
  const { scope, settings: own } = yield* configured(tx, yield* requireScope(tx, pid));
  const details = changedSettings(own, update);
  if (details === null) return own;
  yield* recordChange(tx, { ...origin, action: "account.updated", of: scope, details });
  const updated = { ...own, ...details };
  yield* settings.put(tx, { pid, settings: updated });
  return updated;
});
