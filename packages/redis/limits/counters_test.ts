import { Counters, type KeyId, RequestLimits } from "@accountlink/core";
import { parseAddress } from "@accountlink/core/addresses";
import type { CounterRule } from "@accountlink/core/limits";
import { Secrets } from "@accountlink/core/secrets";
import { isProof, redisUrl, startRedis, whyNoRedis, whyNoRedisUrl } from "@accountlink/test-servers";
import { assert, describe, testLive as test } from "@accountlink/test-servers/effect";
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect";
import { openNode, until } from "../test_redis.ts";

const noUrl = await whyNoRedisUrl();
const noServer = await whyNoRedis();
const minute = 60_000;
const hour = 60 * minute;
const windows = isProof ? 100_000 : 20_000;
const atOnce = { concurrency: "unbounded" } as const;

const ruleOf = (parts: Partial<CounterRule> = {}): CounterRule => ({
  key: `day:${crypto.randomUUID()}`,
  limit: 1,
  durationMs: minute,
  ...parts,
});

const openCounters = (url: string) => Effect.map(openNode(url), (ports) => Context.get(ports, Counters));

describe.skipIf(noUrl !== null)(`counters ${noUrl ?? "on Redis"}`, () => {
  test("three nodes admit exactly the limit of 40 concurrent requests, 20 times", function* () {
    const url = yield* redisUrl;
    const nodes = yield* Effect.all([openCounters(url), openCounters(url), openCounters(url)]);
    for (let round = 0; round < 20; round++) {
      const room = 1 + ((round * 7) % 39);
      const rules = [
        ruleOf({ key: `ip_second:${crypto.randomUUID()}`, limit: 40 }),
        ruleOf({ key: `ip_day:${crypto.randomUUID()}`, limit: room + 1 }),
        ruleOf({ limit: room }),
      ];
      const admissions = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, i) => nodes[i % nodes.length] as Counters["Service"]),
        (counters) => counters.admit(rules, Date.now()),
        atOnce,
      );
      assert.strictEqual(admissions.filter(({ admitted }) => admitted).length, room);
      const states = yield* nodes[0].read(rules, Date.now());
      assert.deepStrictEqual(
        states.map(({ count }) => count),
        [room, room, room],
      );
    }
  });

  test("requests of one turn of the event loop are decided in order, each by its own limits", function* () {
    const counters = yield* openCounters(yield* redisUrl);
    const [narrow, wide] = [ruleOf({ limit: 2 }), ruleOf({ limit: 9 })];
    const raised = { ...narrow, limit: 4 };
    const requests = [
      [wide, narrow],
      [wide, narrow],
      [wide, narrow],
      [wide, raised],
      [narrow],
      [wide, raised],
      [wide],
    ];
    const now = Date.now();
    const admissions = yield* Effect.forEach(requests, (rules) => counters.admit(rules, now), atOnce);
    assert.deepStrictEqual(
      admissions.map(({ admitted, states }) => [admitted, ...states.map(({ count }) => count)]),
      [
        [true, 1, 1],
        [true, 2, 2],
        [false, 2, 2],
        [true, 3, 3],
        [false, 3],
        [true, 4, 4],
        [true, 5],
      ],
    );
  });

  test("a window ends by the clock of Redis, even if the clock of the node stands still", function* () {
    const counters = yield* openCounters(yield* redisUrl);
    const rules = [ruleOf({ durationMs: 200 })];
    const began = performance.now();
    assert.isTrue((yield* counters.admit(rules, 0)).admitted);
    yield* until(Effect.map(counters.admit(rules, 0), ({ admitted }) => admitted));
    const lasted = performance.now() - began;
    // Redis rounds times to whole milliseconds, so the window may seem up to 1 ms shorter than 200 ms.
    assert.isAtLeast(lasted, 199);
    assert.isBelow(lasted, 30_000);
  });

  test("a node whose clock is ahead does not end a window early", function* () {
    const counters = yield* openCounters(yield* redisUrl);
    const rules = [ruleOf()];
    yield* counters.admit(rules, 0);
    assert.isFalse((yield* counters.admit(rules, hour)).admitted);
    const [state] = yield* counters.read(rules, 24 * hour);
    assert.strictEqual(state?.count, 1);
  });

  test("the reported end of a window is a time of the caller's clock", function* () {
    const counters = yield* openCounters(yield* redisUrl);
    const rules = [ruleOf()];
    const began = performance.now();
    yield* counters.admit(rules, 0);
    const [seen] = yield* counters.read(rules, hour);
    const passed = Math.ceil(performance.now() - began);
    assert.isAtMost(seen?.resetsAt ?? 0, hour + minute);
    assert.isAtLeast(seen?.resetsAt ?? 0, hour + minute - passed - 1);
  });

  test("Retry-After never exceeds the window, despite clock skew between nodes", function* () {
    const key = { id: crypto.randomUUID() as KeyId, kind: "normal" } as const;
    const quota = { perWindow: 1, windowMs: 1_000, daily: null, verifyDaily: null };
    const address = Option.getOrThrow(parseAddress("203.0.113.7"));
    const counters = yield* openCounters(yield* redisUrl);
    const layer = RequestLimits.layer.pipe(
      Layer.provide(Layer.succeed(Counters, counters)),
      Layer.provide(Secrets.layerWebCrypto(Redacted.make(new Uint8Array(32)))),
    );
    const limits = Context.get(yield* Layer.build(layer), RequestLimits);
    const real = yield* Clock.Clock;
    /** Admits a request on a node whose clock is ahead by this many milliseconds. */
    const admitAhead = (ahead: number) =>
      Effect.provideService(
        limits.admit({ key, quota, address, traffic: "mapping" }),
        Clock.Clock,
        Object.assign(Object.create(real) as Clock.Clock, {
          currentTimeMillisUnsafe: () => Date.now() + ahead,
        }),
      );
    for (const ahead of [0, -1, 1, -200, 200, -minute, minute]) {
      // Repeat until a request is refused: on a busy machine, the window may end between the two requests.
      const { refusal } = yield* Effect.repeat(
        Effect.andThen(
          until(Effect.map(admitAhead(0), (admission) => admission.refusal === null)),
          admitAhead(ahead),
        ),
        { until: (admission) => admission.refusal !== null },
      );
      assert.deepInclude(refusal, { bucket: "second", retryAfter: 1 });
    }
  });

  test("all requests of a day report the same midnight, even if the clocks of nodes differ", function* () {
    const url = yield* redisUrl;
    const nodes = [yield* openCounters(url), yield* openCounters(url)];
    const day = 24 * hour;
    const noon = Date.now() - (Date.now() % day) + day / 2;
    const began = performance.now();
    const rule = ruleOf({ limit: 50 });
    const admitAt = (now: number, node: number) =>
      (nodes[node % 2] as Counters["Service"]).admit([{ ...rule, durationMs: day - (now % day) }], now);
    const admissions = yield* Effect.forEach(
      Array.from({ length: 50 }, (_, i) => i),
      // The clocks of the nodes differ slightly.
      (i) => Effect.suspend(() => admitAt(noon + Math.round(performance.now() - began) + (i % 20), i)),
    );
    const ends = new Set(admissions.flatMap(({ states }) => states.map(({ resetsAt }) => resetsAt)));
    assert.deepStrictEqual([...ends], [noon + day / 2]);
  });
});

describe.skipIf(noServer !== null)(`counters ${noServer ?? "on their own Redis"}`, () => {
  test("counters send their scripts again after a SCRIPT FLUSH", function* () {
    const server = yield* startRedis();
    const counters = yield* openCounters(server.url);
    const rules = [ruleOf({ limit: 100 })];
    for (let round = 1; round <= 3; round++) {
      assert.isTrue((yield* counters.admit(rules, 0)).admitted);
      assert.strictEqual(yield* server.ask("SCRIPT", "FLUSH"), "+OK\r\n");
      const [state] = yield* counters.read(rules, 0);
      assert.strictEqual(state?.count, round);
    }
  });

  test(`counters use bounded memory for ${windows} windows, and free it when they end`, function* () {
    const server = yield* startRedis();
    const counters = yield* openCounters(server.url);
    const usedMemory = Effect.map(server.ask("INFO", "memory"), (info) =>
      Number(/used_memory:(\d+)/.exec(info)?.[1]),
    );
    const keyCount = Effect.map(server.ask("DBSIZE"), (reply) => Number(reply.slice(1)));
    const fill = (durationMs: number) =>
      Effect.forEach(
        Array.from({ length: windows / 100 }),
        (_, i) =>
          counters.admit(
            Array.from({ length: 100 }, (__, k) => ruleOf({ key: `ip_day:2001:db8:${i}:${k}`, durationMs })),
            0,
          ),
        // Send only four requests at a time. Redis runs their scripts one after another, and the last script must end
        // before its command times out, on a busy machine too.
        { concurrency: 4, discard: true },
      );
    const before = yield* usedMemory;
    yield* fill(hour);
    assert.strictEqual(yield* keyCount, windows);
    assert.isBelow(((yield* usedMemory) - before) / windows, 300);

    yield* server.ask("FLUSHALL");
    yield* fill(1);
    yield* until(Effect.map(keyCount, (count) => count === 0));
    assert.isBelow(((yield* usedMemory) - before) / windows, 50);
  });
});
