import { type ApiKey, AuditLog, type StoragePorts } from "@accountlink/core";
import { type KeyDetails, KeyStore, type KeyUpdate } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import { makeKey, uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { details, insert } from "./keys.ts";

const many = Array.from({ length: 20 }, (_, i) => i);
const atOnce = { concurrency: "unbounded" } as const;

const updateKey = ({ id }: Pick<ApiKey, "id">, update: KeyUpdate, at: Millis = 0) =>
  KeyStore.use((keys) => keys.updateKey({ ...origin, id, update, at }));

const detailsOf = ({ id }: ApiKey, at: Millis): Effect.Effect<KeyDetails, unknown, KeyStore> =>
  KeyStore.use((keys) => Effect.map(keys.findDetails(id, at), Option.getOrThrow));

const everyField: Required<KeyUpdate> = {
  name: "New name",
  tier: "premium",
  kind: "partner",
  access: "read",
  expiresAt: 9_000,
  limits: { perWindow: 3, daily: 0 },
  allowIps: ["203.0.113.7"],
  denyIps: ["2001:db8::/32"],
  redirectOrigins: ["https://example.com"],
  status: "disabled",
};

export const updates: Cases<StoragePorts> = {
  "updateKey sets each field alone and all fields together": function* () {
    const { global } = yield* makeScopes;
    const together = makeKey(global);
    yield* insert(together);
    for (const [field, value] of Object.entries(everyField)) {
      const key = makeKey(global);
      yield* insert(key);
      expectEqual(yield* updateKey(key, { [field]: value }), "updated");
      expectEqual(yield* updateKey(key, { [field]: value }), "unchanged");
      expectEqual(yield* detailsOf(key, 0), details({ ...key, [field]: value }));
    }
    expectEqual(yield* updateKey(together, everyField), "updated");
    expectEqual(yield* detailsOf(together, 0), details({ ...together, ...everyField }));
  },

  "updateKey clears the expiry and lists of a key, and keeps its secrets": function* () {
    const keys = yield* KeyStore;
    const { global } = yield* makeScopes;
    const [key, hash] = [makeKey(global, everyField), uniqueText()];
    yield* insert(key, null, hash);
    const cleared = { expiresAt: null, allowIps: [], denyIps: [], redirectOrigins: [], limits: {} };
    expectEqual(yield* updateKey(key, cleared), "updated");
    expectEqual(yield* keys.findByHash(hash), Option.some({ key: { ...key, ...cleared }, endsAt: null }));
  },

  "updateKey logs the names of the changed fields, and status changes under an action of their own":
    function* () {
      const { guild, account } = yield* makeScopes;
      const key = makeKey(guild, { createdAt: 1 });
      yield* insert(key);
      yield* updateKey(key, { name: key.name, allowIps: ["203.0.113.7"], access: "verify" }, 2);
      yield* updateKey(key, { access: "verify" }, 3);
      yield* updateKey(key, { access: "verify", status: "disabled" }, 4);
      const entries = yield* (yield* AuditLog).list(account.name, null, 2);
      const shared = { ...origin, account: account.name, pid: guild.pid };
      expectEqual(entries.map(({ sequence: _, ...entry }) => entry).toReversed(), [
        {
          ...shared,
          at: 2,
          action: "key.updated",
          details: { keyId: key.id, status: "active", changed: "access, allowIps" },
        },
        { ...shared, at: 4, action: "key.status_changed", details: { keyId: key.id, status: "disabled" } },
      ] as const);
    },

  "an update with unstorable text is a defect, and changes nothing": function* () {
    const { global } = yield* makeScopes;
    const key = makeKey(global);
    yield* insert(key);
    for (const text of unstorableTexts) yield* expectDefect(updateKey(key, { name: text, access: "read" }));
    expectEqual(yield* detailsOf(key, 0), details(key));
  },

  "concurrent updateKey of different fields: all fields change": function* () {
    const { global } = yield* makeScopes;
    const key = makeKey(global);
    yield* insert(key);
    const parts = Object.entries(everyField).map(([field, value]): KeyUpdate => ({ [field]: value }));
    yield* Effect.forEach(parts, (update) => updateKey(key, update), atOnce);
    expectEqual(yield* detailsOf(key, 0), details({ ...key, ...everyField }));
  },

  "concurrent updateKey and revocation: the key stays revoked, and never changes again": function* () {
    const { global } = yield* makeScopes;
    for (const round of many) {
      const key = makeKey(global);
      yield* insert(key);
      const update = (name: number) => updateKey(key, { name: `Name ${name}`, status: "active" });
      const [changed] = yield* Effect.all(
        [Effect.forEach(many.slice(0, 5), update, atOnce), updateKey(key, { status: "revoked" }, 5)],
        atOnce,
      );
      const after = yield* detailsOf(key, 0);
      expectEqual([after.status, after.revokedAt], ["revoked", 5]);
      expectEqual(changed.includes("unknown"), false);
      expectEqual(yield* update(round + 100), "revoked");
      expectEqual((yield* detailsOf(key, 0)).name, after.name);
    }
  },

  "details contain the latest expiry of previous secrets that are still valid": function* () {
    const keys = yield* KeyStore;
    const { global } = yield* makeScopes;
    const key = makeKey(global);
    yield* insert(key);
    const rotate = (previousUntil: Millis) =>
      keys.rotateKey({ ...origin, id: key.id, hash: uniqueText(), at: 0, previousUntil });
    const endAt = (at: Millis) =>
      Effect.map(detailsOf(key, at), ({ previousSecretEndsAt }) => previousSecretEndsAt);
    yield* rotate(50);
    yield* rotate(90);
    expectEqual([yield* endAt(0), yield* endAt(50), yield* endAt(89), yield* endAt(90)], [90, 90, 90, null]);
    expectEqual((yield* keys.listKeys(global.account, 89))[0]?.previousSecretEndsAt, 90);
    yield* updateKey(key, { expiresAt: 60 });
    expectEqual([yield* endAt(59), yield* endAt(60)], [60, null]);
  },
};
