import { CacheMemory } from "@accountlink/memory";
import { assert, test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Logger, Option, Redacted, References } from "effect";
import { TestClock } from "effect/testing";
import { parseAddress } from "../addresses/client_address.ts";
import { Cache } from "../cache.ts";
import { InvalidApiKey, SharedIpRateLimited, StoreUnavailable } from "../errors.ts";
import { KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { SecurityLog } from "./security_log.ts";

const address = (text: string) => Option.getOrThrow(parseAddress(text));
const wrongKey = new InvalidApiKey({ problem: "wrong" });
const key = KeyId.make("Aa0Bb1Cc2Dd3");

/** Creates nodes that share a cache, and collects their log lines. */
const deployment = Effect.gen(function* () {
  const lines: Array<string> = [];
  const logger = Logger.make(({ message, fiber }) => {
    const { network, count = "" } = fiber.getRef(References.CurrentLogAnnotations);
    // The test clock logs warnings too.
    if (network !== undefined) lines.push(`${String([message].flat()[0])} ${String(count)}`.trim());
  });
  const secrets = Secrets.layerWebCrypto(Redacted.make(new Uint8Array(32)));
  const built = yield* Layer.build(Layer.mergeAll(CacheMemory.layer, secrets, Logger.layer([logger])));
  let stored = 0;
  const outage = { isActive: false, questions: 0 };
  const cache = Context.get(built, Cache);
  const shared = Context.add(built, Cache, {
    ...cache,
    get: (...entry) =>
      Effect.suspend(() => {
        if (!outage.isActive) return cache.get(...entry);
        outage.questions++;
        return Effect.fail(new StoreUnavailable({ operation: "Cache.get" }));
      }),
    set: (...entry) =>
      Effect.tap(cache.set(...entry), () =>
        Effect.sync(() => {
          stored++;
        }),
      ),
  });
  const openNode = Layer.build(Layer.fresh(SecurityLog.layer)).pipe(
    Effect.map((ports) => Context.get(ports, SecurityLog)),
    Effect.provideContext(shared),
  );
  const until = (isTrue: () => boolean) =>
    Effect.repeat(
      Effect.promise(() => new Promise((resolve) => setTimeout(resolve))),
      { until: isTrue },
    );
  /** Waits until at least `count` uses of keys are in the cache. */
  const untilStored = (count: number) => until(() => stored >= count);
  return { openNode, lines, logged: Effect.provideContext(shared), until, untilStored, outage };
});

test("the log has the 1st, 10th and 100th refusal of a network in a minute", function* () {
  const { openNode, lines, logged } = yield* deployment;
  const { noteRefusal } = yield* openNode;
  const refuse = (last: number) => logged(noteRefusal(wrongKey, address(`203.0.113.${last % 256}`)));
  for (let last = 0; last < 120; last++) yield* refuse(last);
  assert.deepStrictEqual(lines, ["Wrong key 1", "Wrong key 10", "Wrong key 100"]);
  yield* logged(noteRefusal(wrongKey, address("198.51.100.1")));
  yield* TestClock.adjust("1 minute");
  yield* refuse(0);
  assert.deepStrictEqual(lines.slice(3), ["Wrong key 1", "Wrong key 1"]);
});

test("refusals without a key are logged once a second for an address, with their number", function* () {
  const { openNode, lines, logged, until } = yield* deployment;
  const { logKeyless } = yield* openNode;
  const line = Effect.annotateLogs(Effect.logInfo("Request answered"), { network: "none" });
  const refuse = (from: string, times: number) =>
    Effect.repeat(logged(logKeyless(address(from), line)), { times: times - 1 });
  yield* refuse("203.0.113.7", 30);
  yield* refuse("203.0.113.8", 1);
  assert.deepStrictEqual(lines, ["Request answered", "Request answered"]);
  yield* TestClock.adjust("1 second");
  // The network's name is hashed by WebCrypto, outside of the test clock.
  yield* until(() => lines.length > 2);
  yield* refuse("203.0.113.7", 5);
  yield* refuse("203.0.113.8", 1);
  assert.deepStrictEqual(lines.slice(2), [
    "Requests refused before their key was read 29",
    "Request answered",
  ]);
  yield* TestClock.adjust("1 second");
  yield* until(() => lines.length > 4);
  yield* TestClock.adjust("2 seconds");
  yield* refuse("203.0.113.7", 1);
  assert.deepStrictEqual(lines.slice(4), [
    "Requests refused before their key was read 5",
    "Request answered",
  ]);
});

test("throttled addresses are logged, and requests without a key are not", function* () {
  const { openNode, lines, logged } = yield* deployment;
  const { noteRefusal } = yield* openNode;
  const refusal = { limit: 30, resetsAt: 0, retryAfter: 1 };
  for (const error of [
    null,
    new InvalidApiKey({ problem: "missing" }),
    new SharedIpRateLimited({ ...refusal, bucket: "ip_auth" }),
    new SharedIpRateLimited({ ...refusal, bucket: "ip_day" }),
  ]) {
    yield* logged(noteRefusal(error, address("203.0.113.7")));
  }
  assert.deepStrictEqual(lines, ["Throttled for wrong keys 1", "Throttled 1"]);
});

test("a key's new network is logged once for all nodes, and again after 30 days without use", function* () {
  const { openNode, lines, logged, untilStored } = yield* deployment;
  const use = Effect.fnUntraced(function* (
    node: SecurityLog["Service"],
    addresses: ReadonlyArray<string>,
    stored: number,
  ) {
    lines.length = 0;
    for (const text of addresses) yield* logged(node.noteUse(key, address(text)));
    yield* untilStored(stored);
    return lines.length;
  });
  yield* Effect.scoped(
    Effect.gen(function* () {
      const [one, other] = [yield* openNode, yield* openNode];
      const inTurn = ["203.0.113.7", "2001:db8::1", "203.0.113.8", "2001:db8::2"];
      assert.strictEqual(yield* use(one, inTurn, 3), 2);
      assert.strictEqual(yield* use(other, ["203.0.113.9", "2001:db8::3"], 5), 0);
      yield* TestClock.adjust("12 hours");
      assert.strictEqual(yield* use(one, ["203.0.113.7"], 6), 0);
    }),
  );
  // No node is running now, so no timers fire during these days.
  yield* TestClock.adjust("29 days");
  assert.strictEqual(yield* use(yield* openNode, ["203.0.113.7"], 7), 0);
  yield* TestClock.adjust("12 hours");
  assert.strictEqual(yield* use(yield* openNode, ["203.0.113.7", "2001:db8::1"], 9), 1);
});

test("while the cache is down, no network is logged as new, and the next use is recorded", function* () {
  const { openNode, lines, logged, until, untilStored, outage } = yield* deployment;
  const { noteUse } = yield* openNode;
  outage.isActive = true;
  yield* logged(noteUse(key, address("203.0.113.7")));
  yield* until(() => outage.questions > 0);
  outage.isActive = false;
  assert.deepStrictEqual(lines, []);
  yield* logged(noteUse(key, address("203.0.113.7")));
  yield* untilStored(1);
  assert.deepStrictEqual(lines, ["Key used from a new network"]);
});
