import { type CacheLease, ChatId, LinkCache, Pid } from "@accountlink/core";
import { startRedis, startRedisCluster, startRedisSentinel, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect } from "effect";
import { openClient, openNode, until } from "./internal/test_redis.ts";

const missing = await whyNoRedis();
const minute = 60_000;
const name = { pid: Pid.make("pid_0000000000000001"), chatId: ChatId.make("10001") };
const fence = (run: string) => ({ run, records: [name], id: crypto.randomUUID() });

type Cache = LinkCache["Service"];

const openCache = (url: string) =>
  Effect.map(openNode(url, { commandTimeout: "200 millis" }), (ports) => Context.get(ports, LinkCache));

const leaseOf = (cache: Cache) =>
  Effect.map(cache.look, ({ run, time }): CacheLease => ({ run, until: time + minute }));

/** Fills a record in, and tells whether it is found. */
const keeps = (cache: Cache, lease: CacheLease) =>
  Effect.gen(function* () {
    yield* cache.read(lease, name, minute);
    const read = yield* cache.read(lease, name, minute);
    const token = (read._tag === "Miss" ? read.token : null) ?? "";
    yield* cache.put(lease, name, { token, record: null, entryMs: minute });
    return (yield* cache.read(lease, name, minute))._tag === "Hit";
  });

describe.skipIf(missing !== null)(`LinkCache ${missing ?? "on Redis"}`, () => {
  it.live("all nodes see one run, and a Redis that was started again is another", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis();
      const [one, other] = [yield* openCache(redis.url), yield* openCache(redis.url)];
      const lease = yield* leaseOf(one);
      assert.strictEqual((yield* other.look).run, lease.run);
      assert.isTrue(yield* keeps(one, lease));
      yield* redis.kill;
      yield* redis.restart;
      assert.notStrictEqual((yield* Effect.eventually(leaseOf(one))).run, lease.run);
      assert.isFalse(yield* one.fence(lease, fence(lease.run), minute));
      assert.isFalse(yield* keeps(one, lease));
    }),
  );

  it.live("a lost connection ends the lease, until Redis was asked again", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis();
      const cache = yield* openCache(redis.url);
      const lease = yield* leaseOf(cache);
      const standing = fence(lease.run);
      assert.isTrue(yield* cache.fence(lease, standing, minute));
      yield* redis.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      yield* Effect.eventually(
        Effect.flatMap(Effect.exit(cache.fence(lease, fence(lease.run), minute)), (asked) =>
          asked._tag === "Success" && !asked.value ? Effect.void : Effect.fail("still there"),
        ),
      );
      assert.isFalse(yield* cache.lift(fence(lease.run)));
      assert.strictEqual((yield* Effect.eventually(leaseOf(cache))).run, lease.run);
      assert.isTrue(yield* cache.lift(standing));
    }),
  );

  it.live("fences that nobody lifted are gone with the next one", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis();
      const cache = yield* openCache(redis.url);
      const lease = yield* leaseOf(cache);
      const readsToken = Effect.map(
        cache.read(lease, name, minute),
        (read) => read._tag === "Miss" && read.token !== null,
      );
      const standing = fence(lease.run);
      // The hash lasts as long as the longest of them.
      yield* cache.fence(lease, standing, minute);
      for (const failed of [fence(lease.run), fence(lease.run)]) yield* cache.fence(lease, failed, 20);
      yield* cache.lift(standing);
      yield* until(readsToken);
      for (const each of [standing, fence(lease.run)]) yield* cache.fence(lease, each, minute);
      const client = yield* openClient(redis.url);
      const [key = ""] = yield* Effect.promise(() => client.keys("*:link-fences:*"));
      assert.strictEqual(yield* Effect.promise(() => client.hlen(key)), 2);
      assert.isTrue(yield* cache.lift(standing));
    }),
  );

  it.live("a replica that became the master is another run", () =>
    Effect.gen(function* () {
      const { url, master, failover } = yield* startRedisSentinel;
      const cache = yield* openCache(url);
      const lease = yield* Effect.eventually(leaseOf(cache));
      assert.isTrue(yield* keeps(cache, lease));
      yield* master.kill;
      yield* failover;
      assert.notStrictEqual((yield* Effect.eventually(leaseOf(cache))).run, lease.run);
      assert.isFalse(yield* keeps(cache, lease));
    }),
  );

  it.live("a server that was a replica for a while is another run, though it never ended", () =>
    Effect.gen(function* () {
      const [redis, master] = [yield* startRedis(), yield* startRedis()];
      const cache = yield* openCache(redis.url);
      const { run } = yield* cache.look;
      yield* redis.ask("REPLICAOF", "127.0.0.1", `${master.port}`);
      yield* redis.ask("REPLICAOF", "NO", "ONE");
      assert.notStrictEqual((yield* Effect.eventually(cache.look)).run, run);
    }),
  );

  it.live("in a Redis that evicts keys, or does not say who it is, nothing is kept", () =>
    Effect.gen(function* () {
      const limits = ["maxmemory 10mb", "maxmemory-policy volatile-lru"];
      const evicting = yield* startRedis({ config: limits });
      const silent = yield* startRedis({ config: ["user default on nopass ~* &* +@all -info"] });
      for (const { url } of [evicting, silent]) {
        const cache = yield* openCache(url);
        const lease = yield* leaseOf(cache);
        assert.isFalse(yield* keeps(cache, lease));
        assert.isTrue(yield* cache.fence(lease, fence(lease.run), minute));
        assert.isTrue(yield* cache.lift(fence(lease.run)));
      }
      const keeping = yield* startRedis({ config: ["maxmemory 10mb", "maxmemory-policy noeviction"] });
      const cache = yield* openCache(keeping.url);
      assert.isTrue(yield* keeps(cache, yield* leaseOf(cache)));
    }),
  );

  it.live("in a cluster nothing is kept, and nothing has to be fenced", () =>
    Effect.gen(function* () {
      const cache = yield* openCache((yield* startRedisCluster).url);
      const lease = yield* leaseOf(cache);
      assert.isFalse(yield* keeps(cache, lease));
      assert.isTrue(yield* cache.fence(lease, fence(lease.run), minute));
      assert.isTrue(yield* cache.lift(fence(lease.run)));
    }),
  );
});
