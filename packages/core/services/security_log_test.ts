import { CacheMemory } from "@accountlink/cache-memory";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer, Logger, Option, Redacted, References } from "effect";
import { TestClock } from "effect/testing";
import { parseAddress } from "../client_address.ts";
import { InvalidApiKey, SharedIpRateLimited } from "../errors.ts";
import { KeyId } from "../ids.ts";
import { Secrets } from "./secrets.ts";
import { SecurityLog } from "./security_log.ts";

const address = (text: string) => Option.getOrThrow(parseAddress(text));
const wrongKey = new InvalidApiKey({ problem: "wrong" });
const key = KeyId.make("Aa0Bb1Cc2Dd3");

/** Opens nodes that share a cache, and keeps the lines that they log. */
const deployment = Effect.gen(function* () {
  const lines: Array<string> = [];
  const logger = Logger.make(({ message, fiber }) => {
    const { count = "" } = fiber.getRef(References.CurrentLogAnnotations);
    lines.push(`${String([message].flat()[0])} ${String(count)}`.trim());
  });
  const secrets = Secrets.layerWebCrypto(Redacted.make(new Uint8Array(32)));
  const shared = yield* Layer.build(Layer.mergeAll(CacheMemory.layer, secrets, Logger.layer([logger])));
  const openNode = Layer.build(Layer.fresh(SecurityLog.layer)).pipe(
    Effect.map((built) => Context.get(built, SecurityLog)),
    Effect.provideContext(shared),
  );
  return { openNode, lines, logged: Effect.provideContext(shared) };
});

describe("SecurityLog", () => {
  it.effect("logs powers of ten of the refusals of a network in a minute", () =>
    Effect.gen(function* () {
      const { openNode, lines, logged } = yield* deployment;
      const { noteRefusal } = yield* openNode;
      const refuse = (last: number) => logged(noteRefusal(wrongKey, address(`203.0.113.${last % 256}`)));
      for (let last = 0; last < 120; last++) yield* refuse(last);
      assert.deepStrictEqual(lines, ["Wrong key 1", "Wrong key 10", "Wrong key 100"]);
      yield* logged(noteRefusal(wrongKey, address("198.51.100.1")));
      yield* TestClock.adjust("1 minute");
      yield* refuse(0);
      assert.deepStrictEqual(lines.slice(3), ["Wrong key 1", "Wrong key 1"]);
    }),
  );

  it.effect("logs throttles, and no refusal that is not about security", () =>
    Effect.gen(function* () {
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
    }),
  );

  it.effect("logs a network of a key once for all nodes, and again when it was not used for 30 days", () =>
    Effect.gen(function* () {
      const { openNode, lines, logged } = yield* deployment;
      const use = Effect.fnUntraced(function* (node: SecurityLog["Service"], ...texts: Array<string>) {
        lines.length = 0;
        for (const text of texts) yield* logged(node.noteUse(key, address(text)));
        // The cache is asked beside the request.
        yield* TestClock.adjust("1 milli");
        return lines.length;
      });
      const [one, other] = [yield* openNode, yield* openNode];
      assert.strictEqual(yield* use(one, "203.0.113.7", "203.0.113.8", "2001:db8::1", "2001:db8::2"), 2);
      assert.strictEqual(yield* use(other, "203.0.113.9", "2001:db8::3"), 0);
      yield* TestClock.adjust("20 days");
      assert.strictEqual(yield* use(one, "203.0.113.7"), 0);
      yield* TestClock.adjust("20 days");
      assert.strictEqual(yield* use(other, "203.0.113.7", "2001:db8::1"), 1);
    }),
  );
});
