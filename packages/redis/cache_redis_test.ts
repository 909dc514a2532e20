import { isProof, redisUrl, whyNoRedis, whyNoRedisUrl } from "@accountlink/test-servers";
import {
  cacheOutageSuite,
  cacheSuite,
  countersOutageSuite,
  countersSuite,
  signalsOutageSuite,
  signalsSuite,
} from "@accountlink/testing/conformance";
import { Effect, Exit, Layer, Scope } from "effect";
import * as test from "vitest";
import { layerAt, layerWithOutage, outages, ttlsOf, uniquePrefix } from "./test_redis.ts";

const noUrl = await whyNoRedisUrl();
const noServer = await whyNoRedis();

test.describe.skipIf(noUrl !== null)(`ports ${noUrl ?? "on Redis"}`, () => {
  const scope = Scope.makeUnsafe();
  const url = Effect.runSync(Effect.cached(Scope.provide(redisUrl, scope)));
  const prefix = uniquePrefix();
  const layer = Layer.unwrap(Effect.map(url, (redis) => layerAt(redis, prefix)));
  test.afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

  countersSuite({ name: "Redis", layer, test });
  cacheSuite({ name: "Redis", layer, test });
  signalsSuite({ name: "Redis", layer, test });

  test.it("every key that the conformance suites leave in Redis expires", async () => {
    const program = Effect.flatMap(url, (redis) => Effect.scoped(ttlsOf(redis, prefix)));
    const ttls = await Effect.runPromise(program);
    test.expect(ttls.length).toBeGreaterThan(50);
    test.expect(ttls.filter((ttl) => ttl === -1)).toEqual([]);
  });
});

test.describe.skipIf(noServer !== null)(`ports ${noServer ?? "on an unreachable Redis"}`, () => {
  for (const [how, start] of Object.entries(outages)) {
    // A node notices the others like one of these.
    if (!isProof && how !== "killed" && how !== "frozen") continue;
    const name = `Redis, ${how}`;
    countersOutageSuite({ name, layer: layerWithOutage(start), test });
    cacheOutageSuite({ name, layer: layerWithOutage(start), test });
    signalsOutageSuite({ name, layer: layerWithOutage(start), test });
  }
});
