import { Signals, StorageIdentity } from "@accountlink/core";
import { redisUrl, startProxy, startRedis, whyNoRedis, whyNoRedisUrl } from "@accountlink/test-servers";
import { assert, describe, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Effect, Exit, Queue, Scope } from "effect";
import type { RedisOptions } from "../connection/connections.ts";
import { openClient, openNode, uniquePrefix, until, untilHeard } from "../test_redis.ts";

const noUrl = await whyNoRedisUrl();
const noServer = await whyNoRedis();

const openSignals = (url: string, { prefix = uniquePrefix(), ...options }: Partial<RedisOptions> = {}) =>
  Effect.map(openNode(url, { prefix, ...options }), (ports) => Context.get(ports, Signals));

const channelCount = (url: string, prefix: string) =>
  Effect.map(openClient(url), (client) =>
    Effect.map(
      Effect.promise(() => client.pubsub("CHANNELS", `${prefix}*`)),
      (channels) => channels.length,
    ),
  );

describe.skipIf(noUrl !== null)(`signals ${noUrl ?? "on Redis"}`, () => {
  test("nodes with one Redis prefix exchange signals only if their storages have one identity", function* () {
    const [url, prefix] = [yield* redisUrl, uniquePrefix()];
    const openOn = (identity: string) =>
      Effect.provideService(openSignals(url, { prefix }), StorageIdentity, identity);
    const [one, same, copy] = [yield* openOn("1-1"), yield* openOn("1-1"), yield* openOn("1-2")];
    const queues = [yield* same.subscribe("keys"), yield* copy.subscribe("keys")] as const;
    yield* one.publish("keys", "of the original");
    yield* copy.publish("keys", "of the copy");
    assert.strictEqual(yield* Queue.take(queues[0]), "of the original");
    assert.strictEqual(yield* Queue.take(queues[1]), "of the copy");
  });

  test("a subscriber misses no message after subscribing to a busy topic", function* () {
    const signals = yield* openSignals(yield* redisUrl);
    const last = 3_000;
    let sent = 0;
    const publishNext = Effect.suspend(() => signals.publish("busy", `${++sent}`));
    yield* Effect.forkChild(Effect.replicateEffect(publishNext, last, { concurrency: 8, discard: true }));
    const received = yield* Effect.forEach(
      Array.from({ length: 60 }, (_, i) => i),
      Effect.fnUntraced(function* (i) {
        yield* until(Effect.sync(() => sent >= i * 40));
        const queue = yield* signals.subscribe("busy");
        const missed = sent;
        const messages: Array<number> = [];
        while (messages.at(-1) !== last) messages.push(Number(yield* Queue.take(queue)));
        return { missed, messages };
      }),
      { concurrency: "unbounded" },
    );
    for (const { missed, messages } of received) {
      const [first = 0] = messages;
      assert.isAtMost(first, missed + 1);
      assert.deepStrictEqual(
        messages,
        Array.from({ length: last - first + 1 }, (_, k) => first + k),
      );
    }
  });

  test("the subscription to a topic in Redis ends with the last subscriber of the topic", function* () {
    const [url, prefix] = [yield* redisUrl, uniquePrefix()];
    const signals = yield* openSignals(url, { prefix });
    const channels = yield* channelCount(url, prefix);
    const scope = yield* Scope.make();
    const topics = Array.from({ length: 1_000 }, (_, i) => `session ${i}`);
    yield* Effect.forEach(topics, (topic) => Scope.provide(signals.subscribe(topic), scope), {
      concurrency: "unbounded",
    });
    const staying = yield* signals.subscribe("session 0");
    assert.strictEqual(yield* channels, 1_000);
    yield* Scope.close(scope, Exit.void);
    yield* until(Effect.map(channels, (count) => count === 1));
    yield* signals.publish("session 0", "still here");
    assert.strictEqual(yield* Queue.take(staying), "still here");
  });
});

describe.skipIf(noServer !== null)(`signals ${noServer ?? "on an unreachable Redis"}`, () => {
  const commandTimeout = "500 millis";

  test("subscriptions are renewed after an outage, unless they ended meanwhile", function* () {
    const server = yield* startRedis();
    const prefix = uniquePrefix();
    const signals = yield* openSignals(server.url, { prefix });
    const staying = yield* signals.subscribe("stays");
    const scope = yield* Scope.make();
    yield* Scope.provide(signals.subscribe("leaves"), scope);

    yield* server.kill;
    yield* until(Effect.isFailure(signals.publish("stays", "lost")));
    yield* Scope.close(scope, Exit.void);
    yield* server.restart;
    const channels = yield* channelCount(server.url, prefix);
    yield* until(Effect.map(channels, (count) => count > 0));
    assert.strictEqual(yield* channels, 1);
    yield* until(Effect.isSuccess(signals.publish("stays", "found")));
    assert.strictEqual(yield* Queue.take(staying), "found");
  });

  test("a connection that died silently is replaced", function* () {
    const server = yield* startRedis();
    const proxy = yield* startProxy(server.port);
    const prefix = uniquePrefix();
    const far = yield* openSignals(`redis://127.0.0.1:${proxy.port}`, { prefix, commandTimeout });
    const near = yield* openSignals(server.url, { prefix });
    const queue = yield* Effect.eventually(far.subscribe("keys"));
    yield* proxy.silence;
    yield* proxy.restore;
    yield* untilHeard(queue, near.publish("keys", "changed"));
  });

  test("a failed subscription leaves no subscription in Redis", function* () {
    const server = yield* startRedis();
    const prefix = uniquePrefix();
    const signals = yield* openSignals(server.url, { prefix, commandTimeout });
    yield* server.freeze;
    const failed = yield* Effect.flip(Effect.scoped(signals.subscribe("too late")));
    assert.strictEqual(failed._tag, "StoreUnavailable");
    yield* server.thaw;
    const queue = yield* Effect.eventually(signals.subscribe("in time"));
    yield* Effect.eventually(signals.publish("in time", "here"));
    assert.strictEqual(yield* Queue.take(queue), "here");
    const channels = yield* channelCount(server.url, prefix);
    yield* until(Effect.map(channels, (count) => count === 1));
  });
});
