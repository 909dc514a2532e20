import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, it } from "@effect/vitest";
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

/** How many listeners the wait has put on the client, and how many of them it has left there. The driver has its own. */
const listenersOfWait = Effect.fnUntraced(function* (client: Redis, wait: Effect.Effect<void>) {
  const before = listenersOf(client);
  const waiting = yield* Effect.forkChild(wait, { startImmediately: true });
  const put = listenersOf(client).filter((listener) => !before.includes(listener));
  yield* Fiber.join(waiting);
  const after = listenersOf(client);
  return { put: put.length, left: put.filter((listener) => after.includes(listener)).length };
});

describe.skipIf(missing !== null)(`firstOutcome ${missing ?? "of a client of Redis"}`, () => {
  it.live("leaves no listeners on a client that got connected, and puts none on one that is", () =>
    Effect.gen(function* () {
      const client = yield* openClient((yield* startRedis()).port);
      assert.deepStrictEqual(yield* listenersOfWait(client, firstOutcome(client)), { put: 3, left: 0 });
      assert.strictEqual(client.status, "ready");
      assert.deepStrictEqual(yield* listenersOfWait(client, firstOutcome(client)), { put: 0, left: 0 });
    }),
  );

  it.live("leaves none on a client that cannot be connected, nor when nobody waits any longer", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      yield* server.kill;
      const client = yield* openClient(server.port);
      assert.deepStrictEqual(yield* listenersOfWait(client, firstOutcome(client)), { put: 3, left: 0 });
      const given = Effect.asVoid(Effect.timeoutOption(firstOutcome(client), 0));
      assert.deepStrictEqual(yield* listenersOfWait(client, given), { put: 3, left: 0 });
    }),
  );
});
