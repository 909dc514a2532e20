import { StorageUse } from "@accountlink/core";
import { RootKeyStore } from "@accountlink/core/secrets";
import { StorageMemory } from "@accountlink/memory";
import {
  isProof,
  randomRuns,
  redisUrl,
  startProxy,
  startRedis,
  whyNoRedis,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { storagePropertySuite, storageSuites } from "@accountlink/testing/conformance";
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect";
import * as test from "vitest";
import { noLogs, uniquePrefix, until } from "../test_redis.ts";
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
  const options = { name: "Redis", layer: storage, model: StorageMemory.layer, ...randomRuns(1, 15), test };
  // The stores of `packages/kv` pass their suites on an engine in memory; Redis is another engine.
  if (isProof) storageSuites(options);
  else storagePropertySuite(options);
});

test.it.skipIf((await whyNoRedis()) !== null)(
  "the storage answers again after a network that lost its packets is back",
  () =>
    Effect.gen(function* () {
      const redis = yield* startRedis();
      const proxy = yield* startProxy(redis.port);
      const url = Redacted.make(`redis://127.0.0.1:${proxy.port}`);
      const ports = yield* Layer.build(Layer.provide(layer({ url }), noLogs));
      const ask = Context.get(ports, RootKeyStore).adopt("wrapped");
      yield* ask;
      yield* proxy.silence;
      yield* proxy.restore;
      // The connection stays silent, so the first attempt waits for its deadline.
      yield* Effect.eventually(ask);
    }).pipe(Effect.scoped, Effect.runPromise),
);

test.it.skipIf((await whyNoRedis()) !== null)(
  "a command leaves it to servers to find that data is a copy, and may resume it",
  () =>
    Effect.gen(function* () {
      const redis = yield* startRedis();
      const url = Redacted.make(redis.url);
      const open = (serves: boolean) =>
        Effect.map(Layer.build(Layer.provide(layer({ url, serves }), noLogs)), Context.get(StorageUse));
      const place = redis.ask("HGETALL", "accountlink:store:place");
      const power = yield* Scope.make();
      yield* Scope.provide(open(true), power);
      yield* until(Effect.map(place, (fields) => fields.includes("server:")));
      yield* redis.ask("SAVE");
      yield* redis.kill;
      yield* Scope.close(power, Exit.void);
      yield* redis.restart;
      const before = yield* place;

      const command = yield* open(false);
      test.expect(command.resting()).toMatchObject({ reason: "copied" });
      test.expect(yield* place).toBe(before);
      yield* command.resume;
      test.expect(command.resting()).toBe(null);
      test.expect((yield* open(true)).resting()).toBe(null);
    }).pipe(Effect.scoped, Effect.runPromise),
);
