/** Behind sentinels, a failover loses no answered write, although the replica was cut off before it. */
import { isProof, startRedisSentinel, whyNoRedis } from "@accountlink/test-servers";
import { expect, testLive } from "@accountlink/test-servers/effect";
import { Context, Effect, Fiber, Layer, Redacted } from "effect";
import { layer as connections, RedisConnections } from "../connection/connections.ts";
import { redisKv } from "./redis_kv.ts";

const missing = await whyNoRedis();

// The failover takes three seconds.
testLive.skipIf(missing !== null || !isProof)(
  `an answered write is on the replica, and others are not answered ${missing ?? ""}`,
  function* () {
    const { url, replica, master, failover } = yield* startRedisSentinel();
    const options = { url: Redacted.make(url), commandTimeout: "1500 millis" } as const;
    const open = Effect.map(Layer.build(Layer.fresh(connections(options))), (context) =>
      Context.get(context, RedisConnections),
    );
    const [reader, writer] = [yield* open, yield* open];
    const kv = redisKv(reader.commands, "test:", { replicated: writer.commands });
    yield* Effect.eventually(kv.commit([], [{ key: "a", value: "1" }]));
    yield* replica.freeze;
    const refused = yield* Effect.forkChild(Effect.flip(kv.commit([], [{ key: "b", value: "1" }])));
    expect((yield* kv.get(["a"]))[0]?.value).toBe("1");
    // The read has not waited for the write.
    expect(refused.pollUnsafe()).toBeUndefined();
    expect((yield* Fiber.join(refused))._tag).toBe("StoreUnavailable");
    yield* master.kill;
    yield* replica.thaw;
    yield* failover;
    expect((yield* Effect.eventually(kv.get(["a"])))[0]?.value).toBe("1");
  },
);
