import { type ApiKey, type StoragePorts } from "@accountlink/core";
import { type KeyDetails, KeyStore, type KeyUpdate } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import { hostileTexts, makeKey, uniquePid, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { atOnce, makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { details, insert } from "./keys.ts";

const many = Array.from({ length: 20 }, (_, i) => i);
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
  madeBy: "100001",
};

export const updates: Cases<StoragePorts> = {
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

  "settings keep every Unicode text, and unstorable text is a defect": function* () {
    const keys = yield* KeyStore;
    const { global } = yield* makeScopes;
    const write = (doneText: string) =>
      keys.updateSettings({ ...origin, pid: global.pid, update: { doneText }, at: 0 });
    for (const text of hostileTexts) expectEqual((yield* write(text)).doneText, text);
    const before = yield* keys.findScopeByPid(global.pid);
    for (const text of unstorableTexts) yield* expectDefect(write(text));
    expectEqual(yield* keys.findScopeByPid(global.pid), before);
    const unknown = { ...origin, pid: uniquePid(), update: { doneText: "x" }, at: 0 };
    yield* expectDefect(keys.updateSettings(unknown));
  },
};
