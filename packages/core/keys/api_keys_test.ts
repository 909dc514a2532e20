import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { AuditLog } from "../audit/audit_log.ts";
import { StoreUnavailable } from "../errors.ts";
import { Limits } from "../limits/quota.ts";
import { Secrets } from "../secrets/secrets.ts";
import { Signals } from "../signals.ts";
import { guildId, operator, world } from "../test_world.ts";
import { ApiKeys, type NewKey } from "./api_keys.ts";
import { KeyStore } from "./key_store.ts";

const choice: NewKey = {
  account: { name: "acme", chatId: null, tier: "free" },
  target: { kind: "guild", guildId },
};
const create = (change: Partial<NewKey> = {}) =>
  Effect.flatMap(ApiKeys, (keys) => keys.create({ ...choice, ...change }, operator));

describe("ApiKeys.create", () => {
  it.effect("creates a key of the tier of its account, and stores its hash only", () =>
    Effect.gen(function* () {
      const { key, token } = yield* create();
      const secrets = yield* Secrets;
      const store = yield* KeyStore;
      assert.deepInclude(key, { tier: "free", kind: "normal", status: "active", expiresAt: null });
      const hash = yield* secrets.keyHash(token);
      assert.notInclude(hash, token.slice(-43));
      assert.strictEqual(Option.getOrThrow(yield* store.findByHash(hash)).key.id, key.id);
      assert.notInclude(JSON.stringify(yield* store.listKeys(null, 0)), token.slice(-43));
    }).pipe(Effect.provide(world)),
  );

  it.effect("shares one scope between the keys of an account and target", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* create(), yield* create()];
      const other = yield* create({ account: { name: "other", chatId: null, tier: "free" } });
      assert.strictEqual(one.key.scope.pid, two.key.scope.pid);
      assert.notStrictEqual(one.key.scope.pid, other.key.scope.pid);
      assert.match(one.key.scope.pid, /^pid_[0-9a-z]{16,}$/);
    }).pipe(Effect.provide(world)),
  );

  it.effect("enforces the number of keys of the plan, also under concurrent creations", () =>
    Effect.gen(function* () {
      const results = yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.exit(create()), {
        concurrency: "unbounded",
      });
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 2);
      assert.strictEqual((yield* Effect.flip(create()))._tag, "Conflict");
      yield* create({ kind: "staff", limits: "none" });
    }).pipe(Effect.provide(world)),
  );

  it.effect("counts only keys that were created under the plan", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys;
      yield* create({ kind: "partner" });
      yield* create({ kind: "staff" });
      yield* keys.adopt(`alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`, choice, operator);
      yield* create();
      yield* create();
      assert.strictEqual((yield* Effect.flip(create()))._tag, "Conflict");
    }).pipe(Effect.provide(world)),
  );

  it.effect("allows any number of keys with a plan of 0, and still counts them", () =>
    Effect.gen(function* () {
      const store = yield* KeyStore;
      const { free, ...others } = yield* Limits;
      const unlimited = { ...others, free: { ...free, keys: 0 } };
      for (const _ of [1, 2, 3]) {
        yield* create().pipe(
          Effect.provide(ApiKeys.layer.pipe(Layer.provide(Layer.succeed(Limits, unlimited)))),
        );
      }
      assert.strictEqual((yield* store.listKeys("acme", 0)).length, 3);
      assert.strictEqual((yield* Effect.flip(create()))._tag, "Conflict");
    }).pipe(Effect.provide(world)),
  );

  it.effect("refuses invalid addresses", () =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(create({ allowIps: ["10.0.0.0/8"], denyIps: ["ten"] }));
      assert.deepInclude(refusal, { _tag: "InvalidParameter" });
      assert.include(refusal.message, "denyIps");
    }).pipe(Effect.provide(world)),
  );

  it.effect("refuses names that no store could hold, or that change how others read them", () =>
    Effect.gen(function* () {
      for (const name of ["\ud83c", "x\u202Egnp", "two\nlines"]) {
        const account = { ...choice.account, name };
        for (const refused of [create({ name }), create({ account })]) {
          assert.deepInclude(yield* Effect.flip(refused), { _tag: "InvalidParameter" });
        }
      }
    }).pipe(Effect.provide(world)),
  );
});

describe("ApiKeys.adopt", () => {
  it.effect("stores a given key once, whatever the plan", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys;
      yield* create();
      yield* create();
      const token = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;
      assert.isTrue(yield* keys.adopt(token, choice, operator));
      assert.isFalse(yield* keys.adopt(token, choice, operator));
      assert.strictEqual((yield* Effect.flip(keys.adopt("alk_", choice, operator)))._tag, "InvalidParameter");
    }).pipe(Effect.provide(world)),
  );
});

describe("ApiKeys.reportLeaked", () => {
  it.effect("revokes the key, with an audit entry", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys;
      const store = yield* KeyStore;
      const log = yield* AuditLog;
      const { key, token } = yield* create();
      assert.strictEqual(yield* keys.reportLeaked(token, "req_1"), "revoked");
      assert.strictEqual(yield* keys.reportLeaked(token, "req_2"), "revoked");
      assert.strictEqual(Option.getOrThrow(yield* store.findById(key.id)).status, "revoked");
      assert.deepInclude((yield* log.list("acme", null, 1))[0], {
        action: "key.reported",
        requestId: "req_1",
      });
    }).pipe(Effect.provide(world)),
  );

  it.effect("ignores unknown keys and expired secrets", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys;
      const { key, token } = yield* create();
      yield* keys.rotate(key.id, 0, operator);
      yield* TestClock.adjust("1 second");
      assert.strictEqual(yield* keys.reportLeaked(token, "req_1"), "ended");
      for (const unknown of [`alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`, "not a key"]) {
        assert.strictEqual(yield* keys.reportLeaked(unknown, "req_1"), "unknown");
      }
      const store = yield* KeyStore;
      assert.strictEqual(Option.getOrThrow(yield* store.findById(key.id)).status, "active");
    }).pipe(Effect.provide(world)),
  );
});

describe("ApiKeys.setStatus", () => {
  it.effect("succeeds once it is stored, also while signals are down", () =>
    Effect.gen(function* () {
      const unavailable = Effect.fail(new StoreUnavailable({ operation: "Signals" }));
      const silent = Layer.succeed(Signals, { publish: () => unavailable, subscribe: () => unavailable });
      const keys = yield* Effect.provide(ApiKeys, Layer.provide(ApiKeys.layer, silent));
      const { key } = yield* keys.create(choice, operator);
      assert.isTrue(Option.isSome(yield* keys.rotate(key.id, 0, operator)));
      assert.isTrue(yield* keys.setStatus(key.id, "revoked", operator));
    }).pipe(Effect.provide(world)),
  );

  it.effect("disables and enables keys, but not revoked ones", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys;
      const { key } = yield* create();
      assert.isTrue(yield* keys.setStatus(key.id, "disabled", operator));
      assert.isTrue(yield* keys.setStatus(key.id, "active", operator));
      assert.isTrue(yield* keys.setStatus(key.id, "revoked", operator));
      assert.isFalse(yield* keys.setStatus(key.id, "active", operator));
      assert.isTrue(Option.isNone(yield* keys.rotate(key.id, 0, operator)));
    }).pipe(Effect.provide(world)),
  );
});
