import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Redacted } from "effect";
import { CacheRedis } from "./mod.ts";

const missing = await whyNoRedis();

const inspect = (url: string) => CacheRedis.inspect({ url: Redacted.make(url) });

describe.skipIf(missing !== null)(`inspect ${missing ?? ""}`, () => {
  test("the inspection reports the address, the version and the eviction policy", function* () {
    const { url, port, ask } = yield* startRedis();
    const state = yield* inspect(url);
    assert.deepInclude(state, { path: `127.0.0.1:${port}`, eviction: "noeviction" });
    assert.match(state.version, /^\d+\.\d+\.\d+$/);
    yield* ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    assert.strictEqual((yield* inspect(url)).eviction, "allkeys-lru");
  });

  test("a failed inspection does not report the password", function* () {
    const { port, freeze, thaw } = yield* startRedis({ config: ["requirepass right"] });
    const wrongs = [
      [`redis://127.0.0.1:${port}`, "NOAUTH"],
      [`redis://:guess@127.0.0.1:${port}`, "WRONGPASS"],
      ["redis://:guess@127.0.0.1:1", "ECONNREFUSED"],
    ] as const;
    for (const [url, reason] of wrongs) {
      const error = yield* Effect.flip(inspect(url));
      const where = new URL(url).host;
      assert.strictEqual(error.message, `Cannot use Redis at "${where}": ${reason}`);
    }
    yield* freeze;
    const frozen = yield* Effect.flip(inspect(`redis://:right@127.0.0.1:${port}`));
    assert.strictEqual(frozen.message, `Cannot use Redis at "127.0.0.1:${port}": timeout`);
    yield* thaw;
  });

  test("the inspection reports a refused write, the lead of the clock and a database that is not there", function* () {
    const { url, ask } = yield* startRedis();
    const { refusedWrite, clockLead } = yield* inspect(url);
    assert.strictEqual(refusedWrite, null);
    assert.isBelow(Math.abs(clockLead), 10_000);
    yield* ask("CONFIG", "SET", "maxmemory", "1");
    assert.strictEqual((yield* inspect(url)).refusedWrite, "OOM");
    assert.deepInclude(yield* Effect.flip(inspect(`${url}/99`)), {
      _tag: "RedisDatabaseRefused",
      database: 99,
    });
  });

  test("the inspection names all nodes of a cluster, and the sentinels of a master", function* () {
    const cluster = yield* Effect.flip(inspect("redis+cluster://:guess@127.0.0.1:1,[::1]:2"));
    assert.include(cluster.message, '"127.0.0.1:1,[::1]:2"');
    const sentinel = yield* Effect.flip(inspect("redis+sentinel://127.0.0.1:1/links"));
    assert.include(sentinel.message, '"links at 127.0.0.1:1"');
  });
});
