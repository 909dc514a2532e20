import { KeyStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { keyStoreSuite } from "./mod.ts";

type Store = KeyStore["Service"];

const memory = StorageMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "racing insertKey: never more keys than allowed": (store) => ({
    insertKey: (write) =>
      Effect.gen(function* () {
        const { length } = yield* store.listKeys(write.key.scope.account);
        yield* Effect.yieldNow;
        const full = write.maxKeys !== null && length >= write.maxKeys;
        return full ? "too_many_keys" : yield* store.insertKey({ ...write, maxKeys: null });
      }),
  }),
  "insertKey of a taken id or hash changes nothing, also beyond the limit": (store) => ({
    insertKey: (write) =>
      Effect.gen(function* () {
        const { length } = yield* store.listKeys(write.key.scope.account);
        const full = write.maxKeys !== null && length >= write.maxKeys;
        return full ? "too_many_keys" : yield* store.insertKey(write);
      }),
  }),
  "insertKey counts the keys of the account that are not revoked": (store) => ({
    insertKey: (write) =>
      Effect.gen(function* () {
        const keys = yield* store.listKeys(write.key.scope.account);
        const sameScope = keys.filter(({ scope }) => scope.pid === write.key.scope.pid);
        const full = write.maxKeys !== null && sameScope.length >= write.maxKeys;
        return full ? "too_many_keys" : yield* store.insertKey({ ...write, maxKeys: null });
      }),
  }),
  "a key that does not count is inserted into a full account, and takes no place": (store) => ({
    insertKey: (write) => store.insertKey({ ...write, maxKeys: write.maxKeys ?? Infinity }),
  }),
  "rotateKey adds a secret, and ends those before it": (store) => ({
    findByHash: (hash) =>
      Effect.map(
        store.findByHash(hash),
        Option.map(({ key }) => ({ key, endsAt: key.expiresAt })),
      ),
  }),
  "no secret outlives its key": (store) => ({
    insertKey: (write) => store.insertKey({ ...write, key: { ...write.key, expiresAt: null } }),
  }),
  "racing setKeyStatus: exactly one revokes": (store) => ({
    setKeyStatus: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findById(write.id);
        yield* Effect.yieldNow;
        yield* store.setKeyStatus(write);
        return Option.isSome(found) && found.value.status !== write.status;
      }),
  }),
  "listKeys gives the keys of an account, or of all, oldest first, ties by id": (store) => ({
    listKeys: (account) => Effect.map(store.listKeys(account), (keys) => keys.toReversed()),
  }),
  "ensureAccount makes an account, and leaves one that exists as it is": (store) => ({
    ensureAccount: (account) => Effect.as(store.ensureAccount(account), account),
  }),
  "account names are texts, told apart to the letter": (store) => ({
    ensureAccount: (account) => store.ensureAccount({ ...account, name: account.name.trim() }),
  }),
  "an account name that not every store can hold is a defect, and finds nobody": (store) => ({
    ensureAccount: (account) => store.ensureAccount({ ...account, name: account.name.toWellFormed() }),
  }),
  "racing ensureScope: all get the one that was made": (store) => ({
    ensureScope: (account, target, pid) =>
      Effect.gen(function* () {
        const found = yield* store.findScope(account, target);
        yield* Effect.yieldNow;
        const made = { ...(yield* store.ensureScope(account, target, pid)), pid };
        return Option.getOrElse(found, () => made);
      }),
  }),
};

test.describe("keyStoreSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => keyStoreSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, KeyStore, mistake);
    test.expect(await failingTitles((api) => keyStoreSuite({ name: "", layer, test: api }))).toContain(title);
  });
});
