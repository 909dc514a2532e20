import type { ApiKey, StoragePorts } from "@accountlink/core";
import {
  type KeyDetails,
  type KeyStatus,
  KeyStore,
  type KeyUpdate,
  mostSecrets,
} from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import {
  hostileTexts,
  makeKey,
  makeSession,
  uniqueKeyId,
  uniquePid,
  uniqueText,
  unstorableTexts,
} from "../../mod.ts";
import { expectDefect, expectEqual, pluck } from "../expect.ts";
import { atOnce, makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { details, insert } from "./keys.ts";

const many = Array.from({ length: 20 }, (_, i) => i);
const rotate = (key: Pick<ApiKey, "id">, hash: string, previousUntil: number, at = 0) =>
  KeyStore.use((keys) => keys.rotateKey({ ...origin, id: key.id, hash, at, previousUntil }));

const setStatus = (key: Pick<ApiKey, "id">, status: KeyStatus) =>
  KeyStore.use((keys) => keys.updateKey({ ...origin, id: key.id, update: { status }, at: 0 }));

const endOf = (hash: string) =>
  KeyStore.use((keys) => Effect.map(keys.findByHash(hash), (found) => Option.getOrThrow(found).endsAt));

const isKnown = (hash: string) => KeyStore.use((keys) => Effect.map(keys.findByHash(hash), Option.isSome));

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

export const changes: Cases<StoragePorts> = {
  "concurrent insertKey never exceeds the maximum": function* () {
    const keys = yield* KeyStore;
    const { global, guild } = yield* makeScopes;
    const results = yield* Effect.forEach(
      many,
      (i) => insert(makeKey(i % 2 === 0 ? global : guild), 3),
      atOnce,
    );
    expectEqual(results.filter((result) => result === "inserted").length, 3);
    expectEqual(results.filter((result) => result === "too_many_keys").length, many.length - 3);
    expectEqual((yield* keys.listKeys(global.account, 0)).length, 3);
  },

  "insertKey refuses a key beyond the rate of its account, which revoked keys count for": function* () {
    const keys = yield* KeyStore;
    const { global, guild } = yield* makeScopes;
    const rate = { max: 2, since: 10 };
    const make = (createdAt: number, scope = global, maxKeys: number | null = Infinity) => {
      const key = makeKey(scope, { createdAt });
      return Effect.map(
        keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys, rate, at: createdAt }),
        (outcome) => [key, outcome] as const,
      );
    };
    const [early] = yield* make(9);
    const [first] = yield* make(10);
    yield* setStatus(first, "revoked");
    expectEqual((yield* make(11, guild))[1], "inserted");
    expectEqual((yield* make(11))[1], "too_many_made");
    expectEqual((yield* make(11, global, null))[1], "inserted");
    yield* setStatus(early, "revoked");
    expectEqual((yield* make(11))[1], "too_many_made");
  },

  "forgetRevoked deletes keys with their secrets, and keeps those of sessions": function* () {
    const keys = yield* KeyStore;
    const { global } = yield* makeScopes;
    const [old, recent, used, active] = [makeKey(global), makeKey(global), makeKey(global), makeKey(global)];
    const hash = uniqueText();
    yield* insert(old, null, hash);
    for (const key of [recent, used, active]) yield* insert(key);
    yield* (yield* SessionStore).create({ session: makeSession(used), burst: { capacity: 1, refillMs: 1 } });
    const revoke = (key: ApiKey, at: number) =>
      keys.updateKey({ ...origin, id: key.id, update: { status: "revoked" }, at });
    for (const [key, at] of [[old, -9] as const, [used, -9] as const, [recent, -8] as const])
      yield* revoke(key, at);
    yield* keys.forgetRevoked(-8);
    const left = (yield* keys.listKeys(global.account, 0)).map(({ id }) => id);
    expectEqual(left.toSorted(), [recent, used, active].map(({ id }) => id).toSorted());
    expectEqual(yield* keys.findByHash(hash), Option.none());
    expectEqual(pluck(yield* keys.listAccepted(global.pid, 0), "id"), [active.id]);
  },

  "of a key's secrets the newest two are good, whatever their grace": function* () {
    const { global } = yield* makeScopes;
    const key = makeKey(global);
    const hashes = Array.from({ length: mostSecrets + 3 }, uniqueText);
    yield* insert(key, null, hashes[0]);
    for (const [at, hash] of hashes.slice(1).entries()) yield* rotate(key, hash, 50, at);
    expectEqual(yield* Effect.forEach(hashes.slice(-2), endOf), [50, null]);
    expectEqual(yield* Effect.filter(hashes, isKnown), hashes.slice(3));
    const ended = yield* Effect.forEach(hashes.slice(3, -2), endOf);
    expectEqual(
      ended,
      ended.map((_, index) => index + 4),
    );
  },

  "concurrent insertKey with one ID or one hash: exactly one succeeds": function* () {
    const { global } = yield* makeScopes;
    const [id, hash] = [uniqueKeyId(), uniqueText()];
    for (const inserts of [
      many.map(() => insert(makeKey(global, { id }))),
      many.map(() => insert(makeKey(global), null, hash)),
    ]) {
      const results = yield* Effect.all(inserts, atOnce);
      expectEqual(results.filter((result) => result === "inserted").length, 1);
      expectEqual(results.filter((result) => result === "exists").length, many.length - 1);
    }
  },

  "concurrent updateKey to revoked: exactly one revokes": function* () {
    const { global } = yield* makeScopes;
    const key = makeKey(global);
    yield* insert(key);
    const changed = yield* Effect.forEach(many, () => setStatus(key, "revoked"), atOnce);
    expectEqual(changed.filter((outcome) => outcome === "updated").length, 1);
  },

  "rotateKey: who made the new secret is who made the key, and nobody else if nobody is named": function* () {
    const keys = yield* KeyStore;
    const { global } = yield* makeScopes;
    const key = makeKey(global, { madeBy: "100001" });
    yield* insert(key);
    const makerAfter = (made: { readonly madeBy?: string }) =>
      keys
        .rotateKey({ ...origin, id: key.id, hash: uniqueText(), at: 0, previousUntil: 0, ...made })
        .pipe(Effect.andThen(keys.findById(key.id)), Effect.map(Option.getOrThrow));
    expectEqual((yield* makerAfter({})).madeBy, "100001");
    expectEqual((yield* makerAfter({ madeBy: "100002" })).madeBy, "100002");
  },

  "concurrent rotateKey: the newest secret and the one before it are good": function* () {
    const { global } = yield* makeScopes;
    const [key, first] = [makeKey(global), uniqueText()];
    yield* insert(key, null, first);
    const hashes = many.map(uniqueText);
    yield* Effect.forEach(hashes, (hash) => rotate(key, hash, 50), atOnce);
    const ends = yield* Effect.forEach(yield* Effect.filter([first, ...hashes], isKnown), endOf);
    const good = ends.filter((end) => end !== 0);
    expectEqual([good.length, good.includes(50), good.includes(null)], [2, true, true]);
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
