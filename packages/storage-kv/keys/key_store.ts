import { isAccepted, KeyStore, keyDetails, oldestKeyFirst, presentedKey } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { Database } from "../records/database.ts";
import { accounts, keys, secrets } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { byName, ensureAccount, ensureScope, findScope, updateAccount } from "./accounts.ts";
import { countKeys, insertKey, rotateKey, updateKey } from "./key_writes.ts";
import { findScopeByPid, listScopes, updateSettings } from "./scope_settings.ts";

export const layer: Layer.Layer<KeyStore, never, Database> = Layer.effect(
  KeyStore,
  Effect.map(Database, (db) =>
    KeyStore.of({
      ensureAccount: (account) => db.write("KeyStore.ensureAccount", (tx) => ensureAccount(tx, account)),
      findAccount: (name) =>
        db.find("KeyStore.findAccount", (tx) => Effect.map(accounts.find(tx, name), Option.fromUndefinedOr)),
      findAccountByChatId: (chatId) =>
        db.read("KeyStore.findAccountByChatId", (tx) =>
          Effect.map(accounts.list(tx, "chat", [chatId]), (found) =>
            Option.fromUndefinedOr(found.toSorted(byName)[0]),
          ),
        ),
      listAccounts: () =>
        db.read("KeyStore.listAccounts", (tx) =>
          Effect.map(accounts.scan(tx, []), (all) => all.toSorted(byName)),
        ),
      updateAccount: (write) => db.write("KeyStore.updateAccount", (tx) => updateAccount(tx, write)),
      ensureScope: (account, target, pid) =>
        db.write("KeyStore.ensureScope", (tx) => ensureScope(tx, account, target, pid)),
      findScope: (account, target) =>
        db.read("KeyStore.findScope", (tx) =>
          Effect.map(findScope(tx, account, target), Option.fromUndefinedOr),
        ),
      findScopeByPid: (pid) => db.read("KeyStore.findScopeByPid", (tx) => findScopeByPid(tx, pid)),

      listScopes: (account) => db.read("KeyStore.listScopes", (tx) => listScopes(tx, account)),
      updateSettings: (write) => db.write("KeyStore.updateSettings", (tx) => updateSettings(tx, write)),

      insertKey: (write) => db.write("KeyStore.insertKey", (tx) => insertKey(tx, write)),
      findByHash: (hash) => db.find("KeyStore.findByHash", (tx) => findByHash(tx, hash)),
      findById: (id) =>
        db.find("KeyStore.findById", (tx) =>
          Effect.map(keys.find(tx, id), (stored) => Option.fromUndefinedOr(stored?.key)),
        ),
      findDetails: (id, at) =>
        db.find("KeyStore.findDetails", (tx) =>
          Effect.map(keys.find(tx, id), (stored) =>
            Option.map(Option.fromUndefinedOr(stored), (found) => keyDetails(found, at)),
          ),
        ),
      acceptedAmong: (ids, at) =>
        db.read("KeyStore.acceptedAmong", (tx) =>
          Effect.map(
            keys.findAll(
              tx,
              ids.map((id) => [id]),
            ),
            (found) => found.filter(({ key }) => isAccepted(key, at)).map(({ key }) => key.id),
          ),
        ),
      listKeys: (account, at) => db.read("KeyStore.listKeys", (tx) => listKeys(tx, account, at)),
      countKeys: (account) => db.read("KeyStore.countKeys", (tx) => countKeys(tx, account)),
      rotateKey: (write) => db.write("KeyStore.rotateKey", (tx) => rotateKey(tx, write)),
      updateKey: (write) => db.write("KeyStore.updateKey", (tx) => updateKey(tx, write)),
    }),
  ),
);

/** A hash stays that of its key, so the answer is the key of one moment. */
const findByHash = Effect.fnUntraced(function* (tx: Transaction, hash: string) {
  const secret = yield* secrets.find(tx, hash);
  const stored = secret && (yield* keys.find(tx, secret.keyId));
  return Option.map(Option.fromUndefinedOr(stored), (found) => presentedKey(found, hash));
});

const listKeys = (tx: Transaction, account: string | null, at: Millis) =>
  Effect.map(account === null ? keys.scan(tx, []) : keys.list(tx, "account", [account]), (all) =>
    all.map((stored) => keyDetails(stored, at)).toSorted(oldestKeyFirst),
  );
