import { Counters, Signals } from "@accountlink/core";
import { startRedisSentinel, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Effect } from "effect";
import { openNode, untilHeard } from "../test_redis.ts";

const missing = await whyNoRedis();
const rules = [{ key: "day:a", limit: 1_000_000, durationMs: 60_000 }];

describe.skipIf(missing !== null)(`ports ${missing ?? "on a Redis behind a sentinel"}`, () => {
  test("connections move to the new master after a failover", function* () {
    const { url, master, failover } = yield* startRedisSentinel();
    const ports = yield* openNode(url, { commandTimeout: "500 millis" });
    const [counters, signals] = [Context.get(ports, Counters), Context.get(ports, Signals)];
    assert.isTrue((yield* Effect.eventually(counters.admit(rules, 0))).admitted);
    const queue = yield* Effect.eventually(signals.subscribe("keys"));

    yield* master.kill;
    yield* failover;
    yield* Effect.eventually(counters.admit(rules, 0));
    yield* untilHeard(queue, signals.publish("keys", "changed"));
  });
});
