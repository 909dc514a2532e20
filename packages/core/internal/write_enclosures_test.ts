import { CacheMemory } from "@accountlink/cache-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Fiber, Latch, Layer } from "effect";
import { TestClock } from "effect/testing";
import { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { CacheAgreement, MayCommit } from "../ports/cache_agreement.ts";
import { LinkCache } from "../ports/link_cache.ts";
import { SharedLinks } from "../services/shared_links.ts";

const pid = "pid_0000000000000001" as Pid;
const chatId = "10001" as ChatId;
const down = new StoreUnavailable({ operation: "test" });
const longestWrite = { ofRecord: 16_000, ofScope: 60_000 };

/** What a dependency does with what it is asked: it answers, fails, or stands still until it goes on. */
class Dependency {
  #isDown = false;
  readonly #goesOn = Latch.makeUnsafe(true);

  readonly fail = Effect.sync(() => {
    this.#isDown = true;
  });
  readonly recover = Effect.sync(() => {
    this.#isDown = false;
  });
  readonly freeze = this.#goesOn.close;
  readonly thaw = this.#goesOn.open;

  reach<A, E>(ask: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> {
    return this.#goesOn.whenOpen(
      Effect.suspend((): Effect.Effect<A, E | StoreUnavailable> => (this.#isDown ? down : ask)),
    );
  }
}

/** A node that has used its cache for a while. */
const startNode = Effect.gen(function* () {
  const built = yield* Layer.build(Layer.fresh(Layer.merge(CacheMemory.layer, StorageMemory.layer)));
  const cache = Context.get(built, LinkCache);
  const agreement = Context.get(built, CacheAgreement);
  const [redis, store] = [new Dependency(), new Dependency()];
  const ports = Layer.merge(
    Layer.succeed(LinkCache, {
      look: redis.reach(cache.look),
      read: (...asked) => redis.reach(cache.read(...asked)),
      put: (...asked) => redis.reach(cache.put(...asked)),
      fence: (...asked) => redis.reach(cache.fence(...asked)),
      lift: (...asked) => redis.reach(cache.lift(...asked)),
    }),
    Layer.succeed(CacheAgreement, {
      longestWrite,
      read: store.reach(agreement.read),
      adopt: (...asked) => store.reach(agreement.adopt(...asked)),
      close: (...asked) => store.reach(agreement.close(...asked)),
    }),
  );
  const shared = Context.get(
    yield* Layer.build(Layer.fresh(SharedLinks.layer).pipe(Layer.provide(ports))),
    SharedLinks,
  );
  yield* TestClock.adjust("30 seconds");
  const beginWrite = <A, E>(write: Effect.Effect<A, E>) =>
    Effect.forkChild(shared.changing(pid, [chatId], store.reach(write)), {
      startImmediately: true,
    });
  const closedScopes = Effect.map(agreement.read, ({ closed }) => closed.size);
  return { shared, redis, store, beginWrite, closedScopes };
});

const done = Effect.succeed("done");

/** What the fiber gave, if it has ended. */
const outcomeOf = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<A | "under way", E> =>
  Effect.suspend((): Effect.Effect<A | "under way", E> => fiber.pollUnsafe() ?? Effect.succeed("under way"));

describe("WriteEnclosures", () => {
  it.effect("a store that stood still keeps a write from its fence no longer than that", () =>
    Effect.gen(function* () {
      const { store, beginWrite, closedScopes } = yield* startNode;
      for (const seconds of [1, 2, 3]) {
        yield* store.freeze;
        yield* TestClock.adjust(`${seconds} seconds`);
        const before = yield* beginWrite(done);
        yield* TestClock.adjust("250 millis");
        yield* store.thaw;
        const after = yield* beginWrite(done);
        yield* TestClock.adjust("10 millis");
        assert.deepStrictEqual([yield* outcomeOf(before), yield* outcomeOf(after)], ["done", "done"]);
        assert.strictEqual(yield* closedScopes, 0);
      }
    }),
  );

  it.effect("a store that failed keeps a write from its fence for no more than one renewal", () =>
    Effect.gen(function* () {
      const { store, beginWrite, closedScopes } = yield* startNode;
      yield* store.fail;
      yield* TestClock.adjust("3 seconds");
      yield* store.recover;
      const write = yield* beginWrite(done);
      yield* TestClock.adjust("300 millis");
      assert.strictEqual(yield* outcomeOf(write), "done");
      assert.strictEqual(yield* closedScopes, 0);
    }),
  );

  it.effect("a cache that is back ends the wait for a closed scope", () =>
    Effect.gen(function* () {
      const { redis, beginWrite } = yield* startNode;
      yield* redis.fail;
      const first = yield* beginWrite(done);
      yield* TestClock.adjust("500 millis");
      const second = yield* beginWrite(done);
      yield* redis.recover;
      assert.strictEqual(yield* outcomeOf(first), "under way");
      yield* TestClock.adjust("300 millis");
      assert.deepStrictEqual([yield* outcomeOf(first), yield* outcomeOf(second)], ["done", "done"]);
    }),
  );

  it.effect("a write that cannot be fenced waits once, however many follow it", () =>
    Effect.gen(function* () {
      const { redis, shared, beginWrite } = yield* startNode;
      yield* redis.fail;
      const first = yield* beginWrite(done);
      yield* TestClock.adjust("1499 millis");
      assert.strictEqual(yield* outcomeOf(first), "under way");
      yield* TestClock.adjust("1 millis");
      assert.strictEqual(yield* outcomeOf(first), "done");
      for (let seconds = 0; seconds < 60; seconds++) {
        const [write, whole] = [
          yield* beginWrite(done),
          yield* Effect.forkChild(shared.changingScopes([pid], done), { startImmediately: true }),
        ];
        yield* TestClock.adjust("1 second");
        assert.deepStrictEqual([yield* outcomeOf(write), yield* outcomeOf(whole)], ["done", "done"]);
      }
    }),
  );

  it.effect("a write may not be committed when what is around it could end before it takes effect", () =>
    Effect.gen(function* () {
      const { shared, redis, beginWrite } = yield* startNode;
      const mayCommitAfter = (ms: number) => Effect.delay(Effect.flatten(MayCommit), ms);
      const half = longestWrite.ofRecord / 2;
      const fenced = [yield* beginWrite(mayCommitAfter(half - 1)), yield* beginWrite(mayCommitAfter(half))];
      yield* TestClock.adjust(half);
      assert.deepStrictEqual(yield* Fiber.joinAll(fenced), [true, false]);

      yield* redis.fail;
      yield* TestClock.adjust("1 second");
      // A closure lasts a little longer than it has to.
      const closed = [
        yield* beginWrite(mayCommitAfter(half)),
        yield* beginWrite(mayCommitAfter(half + 2_000)),
      ];
      yield* TestClock.adjust(half + 3_500);
      assert.deepStrictEqual(yield* Fiber.joinAll(closed), [true, false]);

      const ofScope = yield* Effect.forkChild(
        shared.changingScopes([pid], mayCommitAfter(longestWrite.ofScope / 2 + 3_500)),
        { startImmediately: true },
      );
      yield* TestClock.adjust(longestWrite.ofScope);
      assert.isFalse(yield* Fiber.join(ofScope));
    }),
  );
});
