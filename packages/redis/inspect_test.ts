import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Layer, Logger, Redacted } from "effect";
import { CacheRedis } from "./mod.ts";

const missing = await whyNoRedis();

const inspect = (url: string) => CacheRedis.inspect({ url: Redacted.make(url) });

describe.skipIf(missing !== null)(`inspect ${missing ?? ""}`, () => {
  test("the inspection reports the address, the version, the eviction policy and the clock", function* () {
    const { url, port } = yield* startRedis();
    const state = yield* inspect(url);
    assert.deepInclude(state, { path: `127.0.0.1:${port}`, eviction: "noeviction", refusedWrite: null });
    assert.match(state.version, /^\d+\.\d+\.\d+$/);
    assert.isBelow(Math.abs(state.clockLead), 10_000);
  });

  test("the inspection reports a node of a cluster, and a user without scripts, as refused writes, as a start does", function* () {
    const node = yield* startRedis({ config: ["cluster-enabled yes", "cluster-require-full-coverage no"] });
    yield* node.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    yield* Effect.eventually(
      Effect.filterOrFail(inspect(node.url), ({ refusedWrite }) => refusedWrite === "MOVED"),
    );
    const redis = yield* startRedis();
    yield* redis.ask("ACL", "SETUSER", "links", "on", ">right", "~*", "+@all", "-@scripting");
    const url = `redis://links:right@127.0.0.1:${redis.port}`;
    const { refusedWrite } = yield* inspect(url);
    assert.match(refusedWrite ?? "", /^NOPERM, the user may not use eval/);
    const lines: Array<string> = [];
    const keep = Logger.make(({ message }) => void lines.push(String(message)));
    const start = (user: string) =>
      Effect.scoped(Layer.build(CacheRedis.layer({ url: Redacted.make(user) }))).pipe(
        Effect.provide(Logger.layer([keep])),
      );
    yield* start(redis.url);
    assert.deepStrictEqual(lines, []);
    yield* start(url);
    assert.include(
      lines.join(),
      `Redis at "127.0.0.1:${redis.port}" refuses writes: NOPERM, the user may not use eval`,
    );
  });

  test("a failed inspection reports the reason and the servers, but not the password", function* () {
    const { port, freeze, thaw } = yield* startRedis({ config: ["requirepass right"] });
    const messageOf = (url: string) => Effect.map(Effect.flip(inspect(url)), ({ message }) => message);
    for (const [url, text] of [
      [`redis://:guess@127.0.0.1:${port}`, `Cannot use Redis at "127.0.0.1:${port}": WRONGPASS`],
      ["redis+cluster://:guess@127.0.0.1:1,[::1]:2", 'Cannot use Redis at "127.0.0.1:1,[::1]:2": '],
      ["redis+sentinel://127.0.0.1:1/links", 'Cannot use Redis at "links at 127.0.0.1:1": '],
    ] as const) {
      const message = yield* messageOf(url);
      assert.include(message, text);
      assert.notInclude(message, "guess");
    }
    yield* freeze;
    const frozen = yield* messageOf(`redis://:right@127.0.0.1:${port}`);
    assert.strictEqual(frozen, `Cannot use Redis at "127.0.0.1:${port}": timeout`);
    yield* thaw;
  });
});
