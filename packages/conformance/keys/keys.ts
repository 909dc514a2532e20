import type { ApiKey, DataScope, StoragePorts } from "@accountlink/core";
import { type KeyDetails, KeyStore } from "@accountlink/core/keys";
import {
  hostileTexts,
  makeKey,
  uniqueKeyId,
  uniquePid,
  uniqueText,
  unstorableTexts,
} from "@accountlink/testing";
import { Effect, Option } from "effect";
import { expectDefect, expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { makeWorld, origin } from "../world.ts";

/** Inserts a key with a new hash. */
export const insert = (key: ApiKey, maxKeys: number | null = null, hash: string = uniqueText()) =>
  Effect.flatMap(KeyStore, (keys) => keys.insertKey({ ...origin, key, hash, maxKeys, at: key.createdAt }));

/** A key as it is listed; by default one that was never used, rotated or revoked. */
export const details = (key: ApiKey, parts: Partial<KeyDetails> = {}): KeyDetails => ({
  ...key,
  lastUsedAt: null,
  previousSecretEndsAt: null,
  revokedAt: null,
  ...parts,
});

const fullKey = (scope: DataScope): ApiKey =>
  makeKey(scope, {
    name: "All fields",
    tier: "premium",
    kind: "partner",
    access: "verify",
    status: "disabled",
    expiresAt: 1_767_225_600_123,
    limits: { perWindow: 3, windowMs: 500, daily: 0, verifyDaily: 7 },
    allowIps: ["203.0.113.7", "2001:db8::/32"],
    denyIps: ["198.51.100.0/24"],
    redirectOrigins: ["http://127.0.0.1:9999", "https://example.com"],
    createdAt: 1_767_225_600_001,
  });

export const keys: Cases<StoragePorts> = {
  "findById and findByHash return the key unchanged": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global, guild } = yield* makeWorld;
    const limits = [{}, "none", { daily: 10 }] as const;
    for (const key of [...limits.map((each) => makeKey(global, { limits: each })), fullKey(guild)]) {
      const hash = uniqueText();
      expectEqual(yield* insert(key, null, hash), "inserted");
      expectEqual(yield* store.findById(key.id), Option.some(key));
      expectEqual(yield* store.findByHash(hash), Option.some({ key, endsAt: key.expiresAt }));
    }
  }),

  "acceptedAmong returns active keys that have not expired": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global, guild } = yield* makeWorld;
    const [plain, ending] = [makeKey(global), makeKey(guild, { expiresAt: 1_000 })];
    const unasked = makeKey(global);
    const inactive = [makeKey(global, { status: "disabled" }), makeKey(guild, { status: "revoked" })];
    for (const key of [plain, ending, unasked, ...inactive]) yield* insert(key);
    const ids = [plain, ending, ...inactive].map(({ id }) => id).concat(uniqueKeyId());
    expectEqual(new Set(yield* store.acceptedAmong(ids, 999)), new Set([plain.id, ending.id]));
    expectEqual(yield* store.acceptedAmong(ids, 1_000), [plain.id]);
    expectEqual(yield* store.acceptedAmong([], 0), []);
  }),

  "findById and findByHash return none for an unknown key": Effect.gen(function* () {
    const store = yield* KeyStore;
    expectEqual(yield* store.findById(uniqueKeyId()), Option.none());
    expectEqual(yield* store.findByHash(uniqueText()), Option.none());
  }),

  "findByHash returns keys of any status, also expired ones": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global } = yield* makeWorld;
    for (const status of ["active", "disabled", "revoked"] as const) {
      const key = makeKey(global, { status, expiresAt: 1 });
      const hash = uniqueText();
      yield* insert(key, null, hash);
      expectEqual(yield* store.findByHash(hash), Option.some({ key, endsAt: 1 }));
    }
  }),

  "insertKey with a duplicate ID or hash changes nothing, also beyond the maximum": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global, guild } = yield* makeWorld;
    const [key, hash, otherHash] = [makeKey(global), uniqueText(), uniqueText()];
    yield* insert(key, 1, hash);
    expectEqual(yield* insert(makeKey(guild, { id: key.id, tier: "premium" }), 1, otherHash), "exists");
    const sameHash = makeKey(guild);
    expectEqual(yield* insert(sameHash, 1, hash), "exists");
    expectEqual(yield* store.findById(key.id), Option.some(key));
    expectEqual(yield* store.findById(sameHash.id), Option.none());
    expectEqual(yield* store.findByHash(otherHash), Option.none());
    expectEqual(yield* store.listKeys(global.account, 0), [details(key)]);
  }),

  "insertKey counts the keys of the account that are not revoked": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global, guild } = yield* makeWorld;
    const { global: other } = yield* makeWorld;
    yield* insert(makeKey(other), Infinity);
    yield* insert(makeKey(guild, { status: "disabled" }), Infinity);
    const refused = makeKey(global);
    expectEqual(yield* insert(refused, 1), "too_many_keys");
    expectEqual(yield* store.findById(refused.id), Option.none());
    yield* insert(makeKey(global, { status: "revoked" }), Infinity);
    expectEqual(yield* insert(refused, 2), "inserted");
    expectEqual(yield* insert(makeKey(guild), 2), "too_many_keys");
    expectEqual(yield* insert(makeKey(guild), Infinity), "inserted");
    expectEqual(yield* insert(makeKey(guild), 3), "too_many_keys");
    expectEqual(yield* insert(makeKey(other), 0), "too_many_keys");
    expectEqual(yield* Effect.forEach([global, other], ({ account }) => store.countKeys(account)), [3, 1]);
    expectEqual(yield* store.countKeys(uniqueText()), 0);
  }),

  "a key without a maximum is inserted into a full account, and does not count": Effect.gen(function* () {
    const { global, guild } = yield* makeWorld;
    expectEqual(yield* insert(makeKey(guild), null), "inserted");
    expectEqual(yield* insert(makeKey(global), 1), "inserted");
    expectEqual(yield* insert(makeKey(global), null), "inserted");
    expectEqual(yield* insert(makeKey(global), 1), "too_many_keys");
    expectEqual(yield* insert(makeKey(guild), 2), "inserted");
    expectEqual(yield* (yield* KeyStore).countKeys(global.account), 2);
  }),

  "a key in an unknown scope is a defect": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global } = yield* makeWorld;
    const key = makeKey({ ...global, pid: uniquePid() });
    yield* expectDefect(insert(key));
    expectEqual(yield* store.findById(key.id), Option.none());
  }),

  "listKeys returns the keys of one or all accounts, by creation and ID": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global, guild } = yield* makeWorld;
    const { global: other } = yield* makeWorld;
    const made = [
      makeKey(global, { createdAt: 9 }),
      makeKey(guild, { createdAt: 2 }),
      makeKey(global, { createdAt: 9 }),
    ];
    const foreign = makeKey(other, { createdAt: 3 });
    yield* Effect.forEach([...made, foreign], (key) => insert(key));
    const [oldest, ...rest] = [made[1], made[0], made[2]].flatMap((key) => (key ? [details(key)] : []));
    const ordered = [oldest, ...rest.toSorted((one, two) => (one.id < two.id ? -1 : 1))];
    expectEqual<ReadonlyArray<ApiKey | undefined>>(yield* store.listKeys(global.account, 0), ordered);
    const ours = new Set([...made, foreign].map(({ id }) => id));
    expectEqual<ReadonlyArray<ApiKey | undefined>>(
      (yield* store.listKeys(null, 0)).filter(({ id }) => ours.has(id)),
      [oldest, details(foreign), ...ordered.slice(1)],
    );
    expectEqual(yield* store.listKeys(uniqueText(), 0), []);
  }),

  "names and origins of keys keep every Unicode text": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global } = yield* makeWorld;
    for (const text of hostileTexts) {
      const key = makeKey(global, { name: text, redirectOrigins: [text, text], allowIps: [text] });
      yield* insert(key);
      expectEqual(yield* store.findById(key.id), Option.some(key));
    }
  }),

  "a key with unstorable text is a defect": Effect.gen(function* () {
    const store = yield* KeyStore;
    const { global } = yield* makeWorld;
    for (const text of unstorableTexts) {
      const key = makeKey(global, { name: text });
      yield* expectDefect(insert(key));
      expectEqual(yield* store.findById(key.id), Option.none());
    }
  }),
};
