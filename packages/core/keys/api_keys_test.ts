import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import type { WriteOrigin } from "../audit/audit.ts";
import { StoreUnavailable } from "../errors.ts";
import { Limits } from "../limits/quota.ts";
import { Signals } from "../signals.ts";
import { guildId, operator, services } from "../test_services.ts";
import { isAccepted } from "./api_key.ts";
import { ApiKeys, type NewKey } from "./api_keys.ts";
import { KeyStore } from "./key_store.ts";

const choice: NewKey = {
  account: { name: "acme", chatId: null, tier: "free" },
  target: { kind: "guild", guildId },
};
const create = (change: Partial<NewKey> = {}) =>
  ApiKeys.use((keys) => keys.create({ ...choice, ...change }, operator));

const tokenOf = (id: string) => `alk_${id}_${"x".repeat(43)}`;

const test = testWith(services);

test("the key limit of a plan does not count adopted, partner and staff keys, and refuses none of them", function* () {
  const keys = yield* ApiKeys;
  const [adopted, another] = [tokenOf("Aa0Bb1Cc2Dd3"), tokenOf("Aa0Bb1Cc2Dd4")];
  assert.isTrue(yield* keys.adopt(adopted, choice, operator));
  for (const change of [{ kind: "partner" }, { kind: "staff" }, {}, {}] as const) yield* create(change);
  assert.strictEqual((yield* Effect.flip(create()))._tag, "Conflict");
  assert.isTrue(yield* keys.adopt(another, choice, operator));
  assert.isFalse(yield* keys.adopt(adopted, choice, operator));
  assert.strictEqual((yield* Effect.flip(keys.adopt("alk_", choice, operator)))._tag, "InvalidParameter");
});

test("new keys and accounts have visible names, but an account that is stored may have none", function* () {
  const account = { ...choice.account, name: "\u200B" };
  for (const change of [{ account }, { name: "\u200B" }]) {
    const { message } = yield* Effect.flip(create(change));
    assert.include(message, "at least one character visible");
  }
  const stored = yield* KeyStore.use((store) => store.ensureAccount(account));
  assert.strictEqual((yield* create({ account: stored })).key.scope.account, "\u200B");
});

test("a key is accepted until it expires", function* () {
  const { key } = yield* create({ expiresAt: 5 });
  assert.deepStrictEqual(
    [4, 5].map((now) => isAccepted(key, now)),
    [true, false],
  );
});

test("a key limit of 0 allows any number of keys, and these keys count against a later limit", function* () {
  const store = yield* KeyStore;
  const { free, ...others } = yield* Limits;
  const unlimited = { ...others, free: { ...free, keys: 0 } };
  for (const _ of [1, 2, 3]) {
    yield* create().pipe(Effect.provide(ApiKeys.layer.pipe(Layer.provide(Layer.succeed(Limits, unlimited)))));
  }
  assert.strictEqual((yield* store.listKeys("acme", 0)).length, 3);
  assert.strictEqual((yield* Effect.flip(create()))._tag, "Conflict");
});

test("the operator makes any number of keys in a day, and an account 20", function* () {
  const account = { name: "busy", chatId: null, tier: "free" } as const;
  const { free, ...others } = yield* Limits;
  const limits = Layer.succeed(Limits, { ...others, free: { ...free, keys: 0 } });
  const keys = yield* Effect.provide(ApiKeys, Layer.provide(ApiKeys.layer, limits));
  const owner = { actor: { type: "account", id: "busy", member: "10001" }, requestId: null } as const;
  const make = (origin: WriteOrigin) => keys.create({ ...choice, account }, origin);
  for (let made = 0; made < 19; made++) yield* make(operator);
  yield* make(owner);
  yield* make(operator);
  assert.deepStrictEqual((yield* Effect.flip(make(owner))).details, { reason: "key_rate" });
});

test("reporting an expired key as leaked revokes it, since its owner may give it a later end", function* () {
  const keys = yield* ApiKeys;
  const { key, token } = yield* create({ expiresAt: 5 });
  yield* TestClock.adjust("1 second");
  assert.strictEqual(yield* keys.reportLeaked(` ${token}\n`, "req_1"), "revoked");
  const again = yield* Effect.flip(keys.update(key.id, { expiresAt: null }, operator));
  assert.deepStrictEqual(again.details, { reason: "key_revoked" });
});

test("reporting an unknown key or a secret that a rotation ended as leaked changes nothing", function* () {
  const keys = yield* ApiKeys;
  const { key, token } = yield* create();
  yield* keys.rotate(key.id, 0, operator);
  for (const graceSeconds of [0, 60]) {
    yield* TestClock.adjust("1 second");
    assert.strictEqual(yield* keys.reportLeaked(token, "req_1"), "ended");
    yield* keys.rotate(key.id, graceSeconds, operator);
  }
  assert.strictEqual(yield* keys.reportLeaked(token, "req_1"), "ended");
  for (const unknown of [tokenOf("Aa0Bb1Cc2Dd3"), "not a key"]) {
    assert.strictEqual(yield* keys.reportLeaked(unknown, "req_1"), "unknown");
  }
  const store = yield* KeyStore;
  assert.strictEqual(Option.getOrThrow(yield* store.findById(key.id)).status, "active");
});

test("a revocation succeeds once it is stored, also while signals are down", function* () {
  const unavailable = Effect.fail(new StoreUnavailable({ operation: "Signals" }));
  const silent = Layer.succeed(Signals, { publish: () => unavailable, subscribe: () => unavailable });
  const keys = yield* Effect.provide(ApiKeys, Layer.provide(ApiKeys.layer, silent));
  const { key } = yield* keys.create(choice, operator);
  assert.isTrue(Option.isSome(yield* keys.rotate(key.id, 0, operator)));
  assert.isTrue(yield* keys.revoke(key.id, operator));
});
