import {
  cacheSuite,
  countersSuite,
  failingCacheSuite,
  failingCountersSuite,
  failingSignalsSuite,
  signalsSuite,
} from "@accountlink/conformance";
import { redisUrl, whyNoRedis, whyNoRedisUrl } from "@accountlink/test-servers";
import { Effect, Exit, Layer, Scope } from "effect";
import * as test from "vitest";
import { breakableLayer, breakages, layerAt, livesOf, uniquePrefix } from "./internal/test_redis.ts";

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

  test.it("no key that the suites left lives for ever", async () => {
    const program = Effect.flatMap(url, (redis) => Effect.scoped(livesOf(redis, prefix)));
    const lives = await Effect.runPromise(program);
    test.expect(lives.length).toBeGreaterThan(50);
    test.expect(lives.filter((life) => life === -1)).toEqual([]);
  });
});

test.describe.skipIf(noServer !== null)(`ports ${noServer ?? "on a Redis that is lost"}`, () => {
  for (const [how, start] of Object.entries(breakages)) {
    const name = `Redis, ${how}`;
    failingCountersSuite({ name, layer: breakableLayer(start), test });
    failingCacheSuite({ name, layer: breakableLayer(start), test });
    failingSignalsSuite({ name, layer: breakableLayer(start), test });
  }
});
