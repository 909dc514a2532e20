import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import type { Tier } from "../api_key.ts";
import { StoreUnavailable } from "../errors.ts";
import { address, operator, world } from "../internal/test_world.ts";
import { KeyStore } from "../ports/key_store.ts";
import { Signals } from "../ports/signals.ts";
import { ApiKeys } from "./api_keys.ts";
import { acceptedFor, KeyAuthenticator, keyFreshness } from "./key_authenticator.ts";

const client = address("203.0.113.7");
const other = address("203.0.113.8");
const unknownKey = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;

const issue = (
  choice: { readonly expiresAt?: number; readonly status?: "disabled"; readonly tier?: Tier } = {},
) =>
  Effect.flatMap(ApiKeys, (keys) =>
    keys.create(
      {
        account: { name: "acme", chatId: null, tier: "premium" },
        target: { kind: "global" },
        ...choice,
      },
      operator,
    ),
  );

const authenticate = (token: string | null, from = client) =>
  Effect.flatMap(KeyAuthenticator, (authenticator) => authenticator.authenticate(token, from));

const problemOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag);

describe("KeyAuthenticator", () => {
  it.effect("accepts an active key with the quota of its tier", () =>
    Effect.gen(function* () {
      const { key, token } = yield* issue({ tier: "free" });
      const accepted = yield* authenticate(token);
      assert.strictEqual(accepted.key.id, key.id);
      assert.deepInclude(accepted.quota, { perWindow: 1, windowMs: 2_000, daily: 500 });
    }).pipe(Effect.provide(world)),
  );

  it.effect("refuses a missing, unknown, disabled or ended key", () =>
    Effect.gen(function* () {
      const disabled = yield* issue({ status: "disabled" });
      const ended = yield* issue({ expiresAt: 1_000 });
      yield* authenticate(ended.token);
      yield* TestClock.adjust("1 second");
      for (const token of [null, unknownKey, "not a key", disabled.token, ended.token]) {
        assert.strictEqual(yield* problemOf(authenticate(token)), "InvalidApiKey");
      }
    }).pipe(Effect.provide(world)),
  );

  it.effect("forgets a revoked key at once, and one revoked elsewhere within its freshness", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys;
      const store = yield* KeyStore;
      const here = yield* issue();
      const elsewhere = yield* issue();
      yield* authenticate(here.token);
      yield* authenticate(elsewhere.token);

      yield* keys.setStatus(here.key.id, "revoked", operator);
      yield* Effect.yieldNow;
      assert.strictEqual(yield* problemOf(authenticate(here.token)), "InvalidApiKey");

      const change = {
        id: elsewhere.key.id,
        status: "revoked",
        at: 0,
        action: "key.status_changed",
      } as const;
      yield* store.setKeyStatus({ ...operator, ...change });
      yield* TestClock.adjust(keyFreshness);
      assert.isBelow(keyFreshness, 1_000);
      assert.strictEqual(yield* problemOf(authenticate(elsewhere.token)), "InvalidApiKey");
    }).pipe(Effect.provide(world)),
  );

  it.effect("is there while signals are down, and hears of revocations when they are back", () =>
    Effect.gen(function* () {
      const { key, token } = yield* issue();
      const signals = yield* Signals;
      let attempts = 0;
      const recovering = Signals.of({
        ...signals,
        subscribe: (topic) =>
          Effect.suspend(() =>
            ++attempts < 3
              ? Effect.fail(new StoreUnavailable({ operation: "Signals.subscribe" }))
              : signals.subscribe(topic),
          ),
      });
      yield* Effect.gen(function* () {
        yield* authenticate(token);
        yield* TestClock.adjust("2 seconds");
        assert.strictEqual(attempts, 3);

        yield* authenticate(token);
        const keys = yield* ApiKeys;
        yield* keys.setStatus(key.id, "revoked", operator);
        yield* Effect.yieldNow;
        assert.strictEqual(yield* problemOf(authenticate(token)), "InvalidApiKey");
      }).pipe(
        Effect.provide(
          Layer.fresh(KeyAuthenticator.layer).pipe(Layer.provide(Layer.succeed(Signals, recovering))),
        ),
      );
    }).pipe(Effect.provide(world)),
  );

  it.effect("takes a rotated-out secret until its grace is over", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys;
      const { key, token } = yield* issue();
      const next = Option.getOrThrow(yield* keys.rotate(key.id, 60, operator));
      assert.strictEqual((yield* authenticate(token)).endsAt, 60_000);
      assert.isNull((yield* authenticate(next)).endsAt);
      yield* TestClock.adjust("60 seconds");
      assert.strictEqual(yield* problemOf(authenticate(token)), "InvalidApiKey");
      yield* authenticate(next);
    }).pipe(Effect.provide(world)),
  );

  describe("the throttle of failed authentications", () => {
    const failThirtyTimes = Effect.forEach(
      Array.from({ length: 30 }),
      () => Effect.flip(authenticate(unknownKey)),
      { discard: true },
    );

    it.effect("refuses the address that failed, for a minute", () =>
      Effect.gen(function* () {
        yield* failThirtyTimes;
        const refusal = yield* Effect.flip(authenticate(unknownKey));
        assert.deepInclude(refusal, {
          _tag: "SharedIpRateLimited",
          bucket: "ip_auth",
          limit: 30,
          retryAfter: 60,
        });
        assert.strictEqual(yield* problemOf(authenticate(null)), "SharedIpRateLimited");
        assert.strictEqual(yield* problemOf(authenticate(unknownKey, other)), "InvalidApiKey");
        yield* TestClock.adjust("1 minute");
        assert.strictEqual(yield* problemOf(authenticate(unknownKey)), "InvalidApiKey");
      }).pipe(Effect.provide(world)),
    );

    it.effect("lets a key pass that was accepted in the last hour, and no other", () =>
      Effect.gen(function* () {
        const known = yield* issue();
        const fresh = yield* issue();
        yield* authenticate(known.token);
        yield* TestClock.adjust(acceptedFor - 1_000);
        yield* failThirtyTimes;
        yield* authenticate(known.token);
        assert.strictEqual(yield* problemOf(authenticate(fresh.token)), "SharedIpRateLimited");
        yield* TestClock.adjust(acceptedFor);
        yield* failThirtyTimes;
        assert.strictEqual(yield* problemOf(authenticate(known.token)), "SharedIpRateLimited");
      }).pipe(Effect.provide(world)),
    );

    it.effect("does not count a missing key", () =>
      Effect.gen(function* () {
        yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.flip(authenticate(null)));
        assert.strictEqual(yield* problemOf(authenticate(null)), "InvalidApiKey");
      }).pipe(Effect.provide(world)),
    );
  });
});
