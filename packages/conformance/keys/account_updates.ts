import { type ApiKey, AuditLog, type StoragePorts } from "@accountlink/core";
import { KeyStore, type UpdateAccount } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { makeKey, uniqueChatId, uniqueText } from "@accountlink/testing";
import { Effect, Option } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { makeWorld, origin } from "../world.ts";
import { insert } from "./keys.ts";

const atOnce = { concurrency: "unbounded" } as const;

const updateAccount = (name: string, update: UpdateAccount["update"], at: Millis = 0) =>
  Effect.flatMap(KeyStore, (keys) =>
    Effect.map(
      keys.updateAccount({ ...origin, name, update, at }),
      Option.map(({ changed, keys: ids }) => ({ changed, keys: ids.toSorted() })),
    ),
  );

const keyOf = ({ id }: ApiKey) =>
  Effect.flatMap(KeyStore, (keys) => Effect.map(keys.findById(id), Option.getOrThrow));

/** Tiers and suspensions of accounts, and the accounts of chat users. */
export const accountUpdates: Cases<StoragePorts> = {
  "updateAccount sets the tier of the account and of its normal keys that are not revoked": Effect.gen(
    function* () {
      const { account, global, guild } = yield* makeWorld;
      const { global: other } = yield* makeWorld;
      const changed = [makeKey(global), makeKey(guild, { status: "disabled" })];
      const kept = [
        makeKey(global, { kind: "partner" }),
        makeKey(global, { status: "revoked" }),
        makeKey(guild, { tier: "premium" }),
        makeKey(other),
      ];
      yield* Effect.forEach([...changed, ...kept], (key) => insert(key));
      const ids = changed.map(({ id }) => id).toSorted();
      const toPremium = updateAccount(account.name, { tier: "premium" });
      expectEqual(yield* toPremium, Option.some({ changed: true, keys: ids }));
      expectEqual(yield* toPremium, Option.some({ changed: false, keys: [] }));
      for (const key of changed) expectEqual(yield* keyOf(key), { ...key, tier: "premium" });
      for (const key of kept) expectEqual(yield* keyOf(key), key);
      const stored = yield* (yield* KeyStore).findAccount(account.name);
      expectEqual(stored, Option.some({ ...account, tier: "premium" as const }));
    },
  ),

  "updateAccount with the tier that the account has still changes keys of another": Effect.gen(function* () {
    const { account, global } = yield* makeWorld;
    const key = makeKey(global, { tier: "premium" });
    yield* insert(key);
    const updated = yield* updateAccount(account.name, { tier: "free" });
    expectEqual(updated, Option.some({ changed: true, keys: [key.id] }));
  }),

  "a suspension marks every key of the account, and a restoration ends it": Effect.gen(function* () {
    const keys = yield* KeyStore;
    const { account, global, guild } = yield* makeWorld;
    const { global: other } = yield* makeWorld;
    const [first, second, foreign] = [makeKey(global, { kind: "staff" }), makeKey(guild), makeKey(other)];
    const revoked = makeKey(global, { status: "revoked" });
    const hash = uniqueText();
    yield* insert(first, null, hash);
    yield* Effect.forEach([second, revoked, foreign], (key) => insert(key));
    const ids = [first.id, second.id].toSorted();
    const accepted = keys.acceptedAmong([first.id, foreign.id], 0);

    const suspended = yield* updateAccount(account.name, { status: "suspended" });
    expectEqual(suspended, Option.some({ changed: true, keys: ids }));
    expectEqual(
      yield* keys.findByHash(hash),
      Option.some({ key: { ...first, suspended: true }, endsAt: null }),
    );
    expectEqual(yield* keyOf(second), { ...second, suspended: true });
    expectEqual(yield* keyOf(revoked), revoked);
    expectEqual(yield* accepted, [foreign.id]);
    expectEqual(
      yield* keys.findAccount(account.name),
      Option.some({ ...account, status: "suspended" as const }),
    );
    expectEqual((yield* keys.ensureAccount(account)).status, "suspended");

    const restored = yield* updateAccount(account.name, { status: "active" });
    expectEqual(restored, Option.some({ changed: true, keys: ids }));
    expectEqual(yield* keyOf(first), first);
    expectEqual(new Set(yield* accepted), new Set([first.id, foreign.id]));
  }),

  "updates of a key and of its tier keep the suspension": Effect.gen(function* () {
    const keys = yield* KeyStore;
    const { account, global } = yield* makeWorld;
    const key = makeKey(global);
    yield* insert(key);
    yield* updateAccount(account.name, { status: "suspended" });
    yield* keys.updateKey({ ...origin, id: key.id, update: { name: "New" }, at: 0 });
    yield* updateAccount(account.name, { tier: "premium" });
    expectEqual(yield* keyOf(key), { ...key, name: "New", tier: "premium", suspended: true });
  }),

  "concurrent insertKey and suspension: every key is suspended": Effect.gen(function* () {
    for (let round = 0; round < 10; round++) {
      const { account, global } = yield* makeWorld;
      const made = Array.from({ length: 6 }, () => makeKey(global));
      yield* Effect.all(
        [
          Effect.forEach(made, (key) => insert(key), atOnce),
          updateAccount(account.name, { status: "suspended" }),
        ],
        atOnce,
      );
      for (const key of made) expectEqual(yield* keyOf(key), { ...key, suspended: true });
    }
  }),

  "concurrent suspensions: exactly one changes the account": Effect.gen(function* () {
    const { account, global } = yield* makeWorld;
    yield* insert(makeKey(global));
    const updates = yield* Effect.forEach(
      Array.from({ length: 10 }),
      () => updateAccount(account.name, { status: "suspended" }),
      atOnce,
    );
    expectEqual(updates.filter(Option.exists(({ changed }) => changed)).length, 1);
  }),

  "each change of an account logs one entry, and a call without a change logs none": Effect.gen(function* () {
    const { account, global } = yield* makeWorld;
    yield* insert(makeKey(global));
    yield* updateAccount(account.name, { tier: "premium" }, 2);
    yield* updateAccount(account.name, { tier: "premium" }, 3);
    yield* updateAccount(account.name, { status: "suspended" }, 4);
    const entries = yield* (yield* AuditLog).list(account.name, null, 2);
    const shared = { ...origin, account: account.name, pid: null, action: "account.updated" as const };
    expectEqual<ReadonlyArray<unknown>>(entries.map(({ sequence: _, ...entry }) => entry).toReversed(), [
      { ...shared, at: 2, details: { tier: "premium", keys: 1 } },
      { ...shared, at: 4, details: { status: "suspended", keys: 1 } },
    ]);
    expectEqual(yield* updateAccount(uniqueText(), { tier: "free" }), Option.none());
  }),

  "findAccountByChatId returns the first by name, and listAccounts all of them": Effect.gen(function* () {
    const keys = yield* KeyStore;
    const [chatId, prefix] = [uniqueChatId(), uniqueText()];
    expectEqual(yield* keys.findAccountByChatId(chatId), Option.none());
    for (const name of ["b", "a", "c"]) {
      yield* keys.ensureAccount({ name: `${prefix}${name}`, chatId, tier: "free" });
    }
    const named = (name: string) =>
      ({ name: `${prefix}${name}`, chatId, tier: "free", status: "active" }) as const;
    expectEqual(yield* keys.findAccountByChatId(chatId), Option.some(named("a")));
    expectEqual(
      (yield* keys.listAccounts()).filter((account) => account.chatId === chatId),
      ["a", "b", "c"].map(named),
    );
  }),
};
