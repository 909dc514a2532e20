import { StorageMemory } from "@accountlink/memory";
import { redisUrl, whyNoRedisUrl } from "@accountlink/test-servers";
import { storageSuites } from "@accountlink/testing/conformance";
import { Effect, Exit, Layer, Redacted, Scope } from "effect";
import * as test from "vitest";
import { noLogs, uniquePrefix } from "../test_redis.ts";
import { layer } from "./storage_redis.ts";

const noUrl = await whyNoRedisUrl();

test.describe.skipIf(noUrl !== null)(`stores ${noUrl ?? "on Redis"}`, () => {
  const scope = Scope.makeUnsafe();
  const url = Effect.runSync(Effect.cached(Scope.provide(redisUrl, scope)));
  test.afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

  const storage = Layer.unwrap(
    Effect.map(url, (redis) =>
      layer({ url: Redacted.make(redis), prefix: uniquePrefix(), commandTimeout: "20 seconds" }),
    ),
  ).pipe(Layer.provide(noLogs));
  storageSuites({ name: "Redis", layer: storage, model: StorageMemory.layer, runs: 15, test });
});
