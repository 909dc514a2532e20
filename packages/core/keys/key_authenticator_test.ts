import { assert, testWith } from "@accountlink/test-servers/effect";
import { Context, Effect, Fiber, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { SecurityLog } from "../audit/security_log.ts";
import { Cache } from "../cache.ts";
import { StoreUnavailable } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { Signals } from "../signals.ts";
import { address, operator, services } from "../test_services.ts";
import type { Tier } from "./api_key.ts";
import { ApiKeys } from "./api_keys.ts";
import { acceptedFor, KeyAuthenticator, keyFreshness, shareInterval } from "./key_authenticator.ts";
import { KeyStore } from "./key_store.ts";

const client = address("203.0.113.7");
const unknownKey = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;

const issue = (
  choice: { readonly expiresAt?: number; readonly status?: "disabled"; readonly tier?: Tier } = {},
) =>
  ApiKeys.use((keys) =>
    keys.create(
      { account: { name: "acme", chatId: null, tier: "premium" }, target: { kind: "global" }, ...choice },
      operator,
    ),
  );

const authenticate = (token: string | null, from = client) =>
  KeyAuthenticator.use((authenticator) => authenticator.authenticate(token, from));

/** Opens another node with the same stores, cache and signals. */
const openNode = Effect.map(Layer.build(Layer.fresh(KeyAuthenticator.layer)), Context.get(KeyAuthenticator));

const openSlowNode = Effect.fnUntraced(function* (lateness: number) {
  const store = yield* KeyStore;
  let asked = 0;
  const late = KeyStore.of({
    ...store,
    findByHash: (hash) =>
      Effect.tap(store.findByHash(hash), () => {
        asked++;
        return Effect.sleep(lateness);
      }),
  });
  const node = yield* Effect.provideService(openNode, KeyStore, late);
  const untilAsked = (times: number) => Effect.repeat(Effect.yieldNow, { until: () => asked >= times });
  return { node, untilAsked, timesAsked: () => asked };
});

/** Advances the clock until the effect ends. */
const passTime = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true });
  while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(10);
  return yield* Fiber.join(fiber);
});

/** Revokes a key in the store without a signal, as if the signal of another node was lost. */
const revokeElsewhere = Effect.fnUntraced(function* (id: KeyId) {
  yield* (yield* KeyStore).updateKey({ ...operator, id, update: { status: "revoked" }, at: 0 });
});

const problemOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag);

const test = testWith(services);

test("a key is read again after the clock was set back", function* () {
  const { key, token } = yield* issue();
  yield* TestClock.setTime(10_000);
  yield* authenticate(token);
  yield* revokeElsewhere(key.id);
  yield* TestClock.setTime(9_500);
  yield* TestClock.adjust(keyFreshness);
  assert.strictEqual(yield* problemOf(authenticate(token)), "InvalidApiKey");
});

test("a key stays cached for 750 milliseconds from the start of its store read, even a slow one", function* () {
  const { key, token } = yield* issue();
  const { node, untilAsked } = yield* openSlowNode(750);
  const first = yield* Effect.forkChild(node.authenticate(token, client), { startImmediately: true });
  yield* untilAsked(1);
  yield* revokeElsewhere(key.id);
  yield* TestClock.adjust(750);
  yield* Fiber.join(first);
  assert.strictEqual(yield* problemOf(passTime(node.authenticate(token, client))), "InvalidApiKey");
});

test("the security log is told of a key's uses from another address than before", function* () {
  const { token } = yield* issue();
  const told: Array<string | undefined> = [];
  const log = SecurityLog.of({
    ...(yield* SecurityLog),
    noteUse: (_, from) => Effect.sync(() => void told.push(from?.countedAs)),
  });
  const node = yield* Effect.provideService(openNode, SecurityLog, log);
  const [one, other] = ["203.0.113.7", "198.51.100.7"];
  for (const from of [one, one, other, other]) yield* node.authenticate(token, address(from));
  assert.deepStrictEqual(told, [one, other]);
});

test("a key that was revoked during its lookup is read again", function* () {
  const keys = yield* ApiKeys;
  const { key, token } = yield* issue();
  const { node, untilAsked } = yield* openSlowNode(10);
  const first = yield* Effect.forkChild(node.authenticate(token, client), { startImmediately: true });
  yield* untilAsked(1);
  yield* keys.revoke(key.id, operator);
  yield* TestClock.adjust(10);
  yield* Fiber.join(first);
  assert.strictEqual(yield* problemOf(passTime(node.authenticate(token, client))), "InvalidApiKey");
});

test("a node accepts keys while signals are down, and receives revocations when they are back", function* () {
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
    yield* keys.revoke(key.id, operator);
    yield* Effect.yieldNow;
    assert.strictEqual(yield* problemOf(authenticate(token)), "InvalidApiKey");
  }).pipe(
    Effect.provide(
      Layer.fresh(KeyAuthenticator.layer).pipe(Layer.provide(Layer.succeed(Signals, recovering))),
    ),
  );
});

test("a replaced secret is accepted until its grace period ends", function* () {
  const keys = yield* ApiKeys;
  const { key, token } = yield* issue();
  const next = Option.getOrThrow(yield* keys.rotate(key.id, 60, operator));
  assert.strictEqual((yield* authenticate(token)).endsAt, 60_000);
  assert.isNull((yield* authenticate(next)).endsAt);
  yield* TestClock.adjust("60 seconds");
  assert.strictEqual(yield* problemOf(authenticate(token)), "InvalidApiKey");
  yield* authenticate(next);
});

const failThirtyTimes = Effect.forEach(
  Array.from({ length: 30 }),
  () => Effect.flip(authenticate(unknownKey)),
  { discard: true },
);

test("concurrent failures count towards the limit like consecutive failures", function* () {
  const { node, untilAsked } = yield* openSlowNode(10);
  const wrong = Effect.map(Effect.flip(node.authenticate(unknownKey, client)), ({ _tag }) => _tag);
  const all = Effect.replicateEffect(wrong, 200, { concurrency: "unbounded" });
  const asking = yield* Effect.forkChild(all, { startImmediately: true });
  yield* untilAsked(200);
  yield* TestClock.adjust(10);
  const problems = yield* Fiber.join(asking);
  const having = (tag: string) => problems.filter((problem) => problem === tag).length;
  assert.deepEqual([having("InvalidApiKey"), having("SharedIpRateLimited")], [30, 170]);
});

test("a throttled address can use only keys that were accepted within the last hour", function* () {
  const known = yield* issue();
  const fresh = yield* issue();
  // Requests without a key do not count.
  for (let sent = 0; sent < 30; sent++) yield* Effect.flip(authenticate(null));
  yield* authenticate(known.token);
  yield* TestClock.adjust(acceptedFor - 1_000);
  yield* failThirtyTimes;
  yield* authenticate(known.token);
  assert.strictEqual(yield* problemOf(authenticate(fresh.token)), "SharedIpRateLimited");
  yield* TestClock.adjust(acceptedFor + shareInterval);
  yield* failThirtyTimes;
  assert.strictEqual(yield* problemOf(authenticate(known.token)), "SharedIpRateLimited");
});

test("a throttled address can use a key that another node accepted within the last hour", function* () {
  const known = yield* issue();
  yield* authenticate(known.token);
  // The second use writes the shared cache entry again. The entry of the first use would expire before the other
  // node reads it.
  yield* TestClock.adjust(2 * shareInterval);
  yield* authenticate(known.token);
  yield* TestClock.adjust(acceptedFor - 1);
  yield* failThirtyTimes;
  yield* (yield* openNode).authenticate(known.token, client);

  yield* TestClock.adjust(acceptedFor + shareInterval);
  yield* failThirtyTimes;
  const problem = yield* problemOf((yield* openNode).authenticate(known.token, client));
  assert.strictEqual(problem, "SharedIpRateLimited");
});

test("a throttled address is refused without a lookup of its key, unless some node has accepted the key before", function* () {
  const revoked = yield* issue();
  const fresh = yield* issue();
  yield* authenticate(revoked.token);
  yield* revokeElsewhere(revoked.key.id);
  yield* failThirtyTimes;
  const { node, timesAsked } = yield* openSlowNode(0);
  const wrongSecret = `${revoked.token.slice(0, -1)}${revoked.token.endsWith("A") ? "Q" : "A"}`;
  for (const token of [fresh.token, wrongSecret, unknownKey, "not a key", null]) {
    assert.strictEqual(yield* problemOf(node.authenticate(token, client)), "SharedIpRateLimited");
  }
  assert.strictEqual(timesAsked(), 0);
  const problem = yield* problemOf(passTime(node.authenticate(revoked.token, client)));
  assert.strictEqual(problem, "SharedIpRateLimited");
  assert.strictEqual(timesAsked(), 1);
});

test("a throttled address can use keys that the node has accepted, even if the cache is down", function* () {
  const down = Effect.fail(new StoreUnavailable({ operation: "Cache" }));
  const broken = Cache.of({ get: () => down, getMany: () => down, set: () => down });
  const known = yield* issue();
  const fresh = yield* issue();
  const node = yield* Effect.provideService(openNode, Cache, broken);
  yield* node.authenticate(known.token, client);
  yield* failThirtyTimes;
  yield* TestClock.adjust(keyFreshness);
  yield* node.authenticate(known.token, client);
  assert.strictEqual(yield* problemOf(node.authenticate(fresh.token, client)), "SharedIpRateLimited");
});
