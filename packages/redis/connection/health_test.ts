import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Fiber } from "effect";
import { Redis } from "ioredis";
import { firstOutcome } from "./health.ts";

const missing = await whyNoRedis();

const openClient = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => new Redis({ host: "127.0.0.1", port }).on("error", () => {})),
    (client) => Effect.sync(() => client.disconnect()),
  );

const listenersOf = (client: Redis) =>
  ["ready", "error", "close"].flatMap((event) => client.listeners(event));

/** Counts the listeners that `wait` adds to the client, and counts how many of them remain after `wait` has ended. */
const addedListeners = Effect.fnUntraced(function* (client: Redis, wait: Effect.Effect<void>) {
  const before = listenersOf(client);
  const waiting = yield* Effect.forkChild(wait, { startImmediately: true });
  const added = listenersOf(client).filter((listener) => !before.includes(listener));
  yield* Fiber.join(waiting);
  const after = listenersOf(client);
  return { added: added.length, remaining: added.filter((listener) => after.includes(listener)).length };
});

describe.skipIf(missing !== null)(`firstOutcome ${missing ?? "of a client of Redis"}`, () => {
  test("firstOutcome removes its listeners once a client connects, and adds none to a connected one", function* () {
    const client = yield* openClient((yield* startRedis()).port);
    assert.deepStrictEqual(yield* addedListeners(client, firstOutcome(client)), { added: 3, remaining: 0 });
    assert.strictEqual(client.status, "ready");
    assert.deepStrictEqual(yield* addedListeners(client, firstOutcome(client)), { added: 0, remaining: 0 });
  });

  test("firstOutcome removes its listeners after a failure and on interruption", function* () {
    const server = yield* startRedis();
    yield* server.kill;
    const client = yield* openClient(server.port);
    assert.deepStrictEqual(yield* addedListeners(client, firstOutcome(client)), { added: 3, remaining: 0 });
    const given = Effect.asVoid(Effect.timeoutOption(firstOutcome(client), 0));
    assert.deepStrictEqual(yield* addedListeners(client, given), { added: 3, remaining: 0 });
  });
});
