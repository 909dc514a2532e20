import type { ApiKey, StoreUnavailable } from "@accountlink/core";
import type { AuditAction, WriteOrigin } from "@accountlink/core/audit";
import {
  countsNow,
  type InsertKey,
  insertedKey,
  keyEntryDetails,
  type RotateKey,
  rotatedKey,
  storedUpdate,
  type UpdateKey,
  updatedKey,
} from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { recordChange } from "../audit/record_change.ts";
import { accounts, keys, secrets } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { requireScope } from "./accounts.ts";

export const countKeys = (tx: Transaction, account: string) =>
  Effect.map(keys.list(tx, "account", [account]), (all) => all.filter(countsNow).length);

export const insertKey = Effect.fnUntraced(function* (
  tx: Transaction,
  write: InsertKey,
): Effect.fn.Return<"inserted" | "exists" | "too_many_keys", StoreUnavailable> {
  const { key, hash, maxKeys } = write;
  const { account } = key.scope;
  yield* requireScope(tx, key.scope.pid);
  const isTaken =
    (yield* keys.find(tx, key.id)) !== undefined || (yield* secrets.find(tx, hash)) !== undefined;
  if (isTaken) return "exists";
  if (maxKeys !== null && (yield* countKeys(tx, account)) >= maxKeys) return "too_many_keys";

  yield* recordKeyChange(tx, write, key, "key.created");
  const suspended = (yield* accounts.find(tx, account))?.status === "suspended";
  yield* keys.put(tx, insertedKey(write, suspended));
  yield* secrets.put(tx, { hash, keyId: key.id });
  return "inserted";
});

export const rotateKey = Effect.fnUntraced(function* (tx: Transaction, write: RotateKey) {
  const stored = yield* keys.find(tx, write.id);
  if (stored === undefined || stored.key.status === "revoked") return false;
  if ((yield* secrets.find(tx, write.hash)) !== undefined) {
    throw new Error(`Cannot rotate key "${write.id}": the hash is taken, expected that of a new secret`);
  }
  yield* recordKeyChange(tx, write, stored.key, "key.rotated");
  yield* keys.put(tx, rotatedKey(stored, write));
  yield* secrets.put(tx, { hash: write.hash, keyId: write.id });
  return true;
});

export const updateKey = Effect.fnUntraced(function* (tx: Transaction, write: UpdateKey) {
  const stored = yield* keys.find(tx, write.id);
  if (stored === undefined) return "unknown" as const;
  if (stored.key.status === "revoked") return "revoked" as const;
  const updated = updatedKey(stored.key, write.update, write.action);
  if (updated === null) return "unchanged" as const;
  const { key, action, details } = updated;
  yield* recordChange(tx, { ...write, action, of: key.scope, details });
  yield* keys.put(tx, storedUpdate(stored, key, write.at));
  return "updated" as const;
});

const recordKeyChange = (
  tx: Transaction,
  write: WriteOrigin & { readonly at: Millis },
  key: ApiKey,
  action: AuditAction,
) => recordChange(tx, { ...write, action, of: key.scope, details: keyEntryDetails(key) });
