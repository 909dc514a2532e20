/** What the owners of scopes say to users who verify. */
import type { Pid } from "@accountlink/core";
import { changedSettings, noSettings, scopeOrder, type UpdateScope } from "@accountlink/core/keys";
import { Effect } from "effect";
import { recordChange } from "../audit/record_change.ts";
import { scopes, settings } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { requireScope } from "./accounts.ts";

export const findSettings = (tx: Transaction, pid: Pid) =>
  Effect.map(settings.find(tx, pid), (found) => found?.settings ?? noSettings);

export const listScopes = Effect.fnUntraced(function* (tx: Transaction, account: string) {
  const found = yield* scopes.list(tx, "target", [account]);
  const configured = yield* Effect.forEach(found, (scope) =>
    Effect.map(findSettings(tx, scope.pid), (own) => ({ scope, settings: own })),
  );
  return configured.toSorted(scopeOrder);
});

export const updateSettings = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, update, ...origin }: UpdateScope,
) {
  const scope = yield* requireScope(tx, pid);
  const own = yield* findSettings(tx, pid);
  const details = changedSettings(own, update);
  if (details === null) return own;
  yield* recordChange(tx, { ...origin, action: "account.updated", of: scope, details });
  const updated = { ...own, ...details };
  yield* settings.put(tx, { pid, settings: updated });
  return updated;
});
