import { KeyStore } from "@accountlink/core/keys";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { keyStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(keyStoreSuite, StorageMemory.layer, KeyStore, {
  "each key change logs one entry, and a call without a change logs none": (store) => ({
    updateKey: ({ action: _, ...write }) => store.updateKey(write),
  }),
  "findAccountByChatId returns the first by name, and listAccounts all of them": (store) => ({
    listAccounts: () => Effect.map(store.listAccounts(), (accounts) => accounts.toReversed()),
  }),
  "concurrent insertKey never exceeds the maximum": (store) => ({
    insertKey: (write) =>
      Effect.gen(function* () {
        const { length } = yield* store.listKeys(write.key.scope.account, 0);
        yield* Effect.yieldNow;
        const full = write.maxKeys !== null && length >= write.maxKeys;
        return full ? "too_many_keys" : yield* store.insertKey({ ...write, maxKeys: null });
      }),
  }),
  "insertKey with a duplicate ID or hash changes nothing, also beyond the maximum": (store) => ({
    insertKey: (write) =>
      Effect.gen(function* () {
        const { length } = yield* store.listKeys(write.key.scope.account, 0);
        const full = write.maxKeys !== null && length >= write.maxKeys;
        return full ? "too_many_keys" : yield* store.insertKey(write);
      }),
  }),
  "insertKey counts the keys of the account that are not revoked": (store) => ({
    insertKey: (write) =>
      Effect.gen(function* () {
        const keys = yield* store.listKeys(write.key.scope.account, 0);
        const sameScope = keys.filter(({ scope }) => scope.pid === write.key.scope.pid);
        const full = write.maxKeys !== null && sameScope.length >= write.maxKeys;
        return full ? "too_many_keys" : yield* store.insertKey({ ...write, maxKeys: null });
      }),
  }),
  "a key without a maximum is inserted into a full account, and does not count": (store) => ({
    insertKey: (write) => store.insertKey({ ...write, maxKeys: write.maxKeys ?? Infinity }),
  }),
  "rotateKey adds a secret, and ends the previous ones": (store) => ({
    findByHash: (hash) =>
      Effect.map(
        store.findByHash(hash),
        Option.map(({ key }) => ({ key, endsAt: key.expiresAt })),
      ),
  }),
  "a secret ends with its key at the latest": (store) => ({
    insertKey: (write) => store.insertKey({ ...write, key: { ...write.key, expiresAt: null } }),
  }),
  "concurrent updateKey to revoked: exactly one revokes": (store) => ({
    updateKey: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findById(write.id);
        yield* Effect.yieldNow;
        const outcome = yield* store.updateKey(write);
        return Option.exists(found, ({ status }) => status !== "revoked") ? "updated" : outcome;
      }),
  }),
  "updateKey sets each field alone, and all of them together": (store) => ({
    updateKey: (write) => store.updateKey({ ...write, update: { ...write.update, limits: {} } }),
  }),
  "concurrent updateKey and revocation: what is revoked stays, and never changes again": (store) => ({
    updateKey: (write) =>
      write.update.status === "revoked"
        ? Effect.andThen(Effect.yieldNow, store.updateKey({ ...write, at: write.at + 1 }))
        : store.updateKey(write),
  }),
  "details name the latest end of an earlier secret that is still accepted": (store) => ({
    findDetails: (id) => store.findDetails(id, 0),
  }),
  "listKeys returns the keys of one or all accounts, by creation and ID": (store) => ({
    listKeys: (account, at) => Effect.map(store.listKeys(account, at), (keys) => keys.toReversed()),
  }),
  "ensureAccount creates an account, and keeps an existing one": (store) => ({
    ensureAccount: (account) =>
      Effect.as(store.ensureAccount(account), { ...account, status: "active" as const }),
  }),
  "a suspension marks every key of the account, and a restoration ends it": (store) => ({
    updateAccount: (write) =>
      Effect.map(
        store.updateAccount(write),
        Option.map(({ changed }) => ({ changed, keys: [] })),
      ),
  }),
  "concurrent suspensions: exactly one changes the account": (store) => ({
    updateAccount: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findAccount(write.name);
        yield* Effect.yieldNow;
        const updated = yield* store.updateAccount(write);
        const changed = Option.exists(found, ({ status }) => status === "active");
        return Option.map(updated, ({ keys }) => ({ changed, keys }));
      }),
  }),
  "account names keep every Unicode text distinct": (store) => ({
    ensureAccount: (account) => store.ensureAccount({ ...account, name: account.name.trim() }),
  }),
  "an unstorable account name is a defect": (store) => ({
    ensureAccount: (account) => store.ensureAccount({ ...account, name: account.name.toWellFormed() }),
  }),
  "concurrent ensureScope: all return the one that was created": (store) => ({
    ensureScope: (account, target, pid) =>
      Effect.gen(function* () {
        const found = yield* store.findScope(account, target);
        yield* Effect.yieldNow;
        const made = { ...(yield* store.ensureScope(account, target, pid)), pid };
        return Option.getOrElse(found, () => made);
      }),
  }),
});
