import { Counters, Signals } from "@accountlink/core";
import { startRedisCluster, whyNoRedis } from "@accountlink/test-servers";
import { cacheSuite, countersSuite, signalsSuite } from "@accountlink/testing/conformance";
import { Context, Effect, Exit, Layer, Scope } from "effect";
import * as test from "vitest";
import { layerAt, openNode, untilHeard } from "../test_redis.ts";

const missing = await whyNoRedis();
const minute = 60_000;

test.describe.skipIf(missing !== null)(`ports ${missing ?? "on a Redis Cluster"}`, () => {
  const scope = Scope.makeUnsafe();
  const cluster = Effect.runSync(Effect.cached(Scope.provide(startRedisCluster(), scope)));
  const layer = Layer.unwrap(Effect.map(cluster, ({ url }) => layerAt(url)));
  test.afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

  countersSuite({ name: "Redis Cluster", layer, test });
  cacheSuite({ name: "Redis Cluster", layer, test });
  signalsSuite({ name: "Redis Cluster", layer, test });

  const run = (body: Effect.Effect<void, unknown, Scope.Scope>) => Effect.runPromise(Effect.scoped(body));

  /**
   * Each rule set has windows of one address and windows of one key. The cluster stores the address and the key in
   * different slots.
   */
  const ruleSets = Array.from({ length: 20 }, () => {
    const [address, key] = [crypto.randomUUID(), crypto.randomUUID()];
    return {
      address: { key: `ip_day:${address}`, limit: 100, durationMs: minute },
      key: { key: `day:${key}`, limit: 3, durationMs: minute },
      pacing: { key: `second:${key}`, limit: 100, durationMs: minute },
    };
  });

  test.it(
    "a request refused by the limit of its key does not count towards the limit of its address, and leaves it no window",
    () =>
      run(
        Effect.gen(function* () {
          const counters = Context.get(yield* openNode((yield* cluster).url), Counters);
          for (const { address, key, pacing } of ruleSets) {
            const all = [address, pacing, key];
            const admissions = yield* Effect.replicateEffect(
              Effect.suspend(() => counters.admit(all, Date.now())),
              5,
            );
            test.expect(admissions.map(({ admitted }) => admitted)).toEqual([true, true, true, false, false]);
            const counts = admissions.map(({ states }) => states.map(({ count }) => count));
            test.expect(counts).toEqual([1, 2, 3, 3, 3].map((count) => [count, count, count]));
            const fresh = { ...address, key: `${address.key}-fresh` };
            const refused = yield* counters.admit([fresh, { ...key, limit: 1 }], Date.now());
            test.expect(refused.admitted).toBe(false);
            test.expect(yield* counters.read([fresh], 0)).toEqual([{ count: 0, resetsAt: minute }]);
          }
        }),
      ),
  );

  test.it("if a Redis node fails, signals use another node, and counters on the other nodes still work", () =>
    run(
      Effect.gen(function* () {
        const { url, nodes } = yield* cluster;
        const ports = yield* openNode(url, { commandTimeout: "500 millis" });
        const signals = Context.get(ports, Signals);
        const queue = yield* Effect.eventually(signals.subscribe("keys"));
        yield* nodes[0]?.kill ?? Effect.void;
        yield* untilHeard(queue, signals.publish("keys", "changed"));
        const counters = Context.get(ports, Counters);
        // One of the three nodes was killed, so commands for a third of the slots fail.
        const rules = Array.from({ length: 60 }, () => ({
          key: `ip_day:${crypto.randomUUID()}`,
          limit: 1,
          durationMs: minute,
        }));
        const admitted = yield* Effect.forEach(rules, (rule) =>
          Effect.exit(counters.admit([rule], Date.now())),
        );
        test.expect(admitted.filter(Exit.isSuccess).length).toBeGreaterThan(0);
        test.expect(admitted.filter(Exit.isFailure).length).toBeGreaterThan(0);
      }),
    ),
  );
});
