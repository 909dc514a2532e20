import type { ApiKey, DataScope, StoragePorts } from "@accountlink/core";
import { type KeyDetails, KeyStore } from "@accountlink/core/keys";
import { Effect, Option } from "effect";
import { makeKey, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";

export const insert = (key: ApiKey, maxKeys: number | null = null, hash: string = uniqueText()) =>
  KeyStore.use((keys) => keys.insertKey({ ...origin, key, hash, maxKeys, at: key.createdAt }));

/** A key as `listKeys` returns it; by default never used, rotated or revoked. */
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
  "findById and findByHash return the key unchanged": function* () {
    const store = yield* KeyStore;
    const { global, guild } = yield* makeScopes;
    const limits = [{}, "none", { daily: 10 }] as const;
    for (const key of [...limits.map((each) => makeKey(global, { limits: each })), fullKey(guild)]) {
      const hash = uniqueText();
      expectEqual(yield* insert(key, null, hash), "inserted");
      expectEqual(yield* store.findById(key.id), Option.some(key));
      expectEqual(yield* store.findByHash(hash), Option.some({ key, endsAt: key.expiresAt }));
    }
  },

  "listKeys returns the keys of one or all accounts, by creation and ID": function* () {
    const store = yield* KeyStore;
    const { global, guild } = yield* makeScopes;
    const { global: other } = yield* makeScopes;
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
  },
};
