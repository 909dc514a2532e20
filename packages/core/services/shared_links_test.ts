import { CacheMemory } from "@accountlink/cache-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { assert, describe, it } from "@effect/vitest";
import { Context, Deferred, Effect, Fiber, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { CacheAgreement } from "../ports/cache_agreement.ts";
import { LinkCache } from "../ports/link_cache.ts";
import { SharedLinks } from "./shared_links.ts";

const pid = "pid_0000000000000001" as Pid;
const chatId = "10001" as ChatId;
const gameId = "1" as GameId;
const name = { pid, chatId };
const down = new StoreUnavailable({ operation: "test" });
const longestWrite = { ofRecord: 4_000, ofScope: 10_000 };

type Cache = LinkCache["Service"];

const newCache = Effect.map(Effect.scoped(Layer.build(Layer.fresh(CacheMemory.layer))), (built) =>
  Context.get(built, LinkCache),
);

/** The store, in which the one record has a version, and a cache that can be started again. */
class World {
  version = 0;
  lookUps = 0;
  cache: Cache;
  readonly agreement: CacheAgreement["Service"];

  constructor(cache: Cache, agreement: CacheAgreement["Service"]) {
    this.cache = cache;
    this.agreement = { ...agreement, longestWrite };
  }

  readonly restartCache = Effect.map(newCache, (cache) => {
    this.cache = cache;
  });

  readonly commit = Effect.sync(() => ++this.version);

  readonly lookUp = Effect.sync(() => {
    this.lookUps++;
    const record = { chatId, gameId, linkVersion: this.version, linkedAt: 0, lastVerifiedAt: 0 };
    return this.version === 0 ? Option.none() : Option.some(record);
  });
}

const newWorld = Effect.gen(function* () {
  const stores = yield* Layer.build(Layer.fresh(StorageMemory.layer));
  return new World(yield* newCache, Context.get(stores, CacheAgreement));
});

/** One node. What it asks of the cache, or of one operation, can be lost, or the answer, or it comes when it is too late. */
const newNode = Effect.fnUntraced(function* (world: World, agreement = world.agreement) {
  const cut: Partial<Record<keyof LinkCache["Service"] | "all", "request" | "answer" | "time">> = {};
  let other: Cache | undefined;
  const through = <A>(
    operation: keyof LinkCache["Service"],
    ask: (asked: Cache) => Effect.Effect<A, StoreUnavailable>,
  ) =>
    Effect.suspend(() => {
      const lost = cut.all ?? cut[operation];
      if (lost === undefined) return ask(other ?? world.cache);
      if (lost === "time") return Effect.never;
      return Effect.andThen(lost === "answer" ? ask(world.cache) : Effect.void, Effect.fail(down));
    });
  const reached = LinkCache.of({
    look: through("look", ({ look }) => look),
    read: (...asked) => through("read", ({ read }) => read(...asked)),
    put: (...asked) => through("put", ({ put }) => put(...asked)),
    fence: (...asked) => through("fence", ({ fence }) => fence(...asked)),
    lift: (...asked) => through("lift", ({ lift }) => lift(...asked)),
  });
  const ports = Layer.merge(Layer.succeed(LinkCache, reached), Layer.succeed(CacheAgreement, agreement));
  const built = yield* Layer.build(Layer.fresh(SharedLinks.layer).pipe(Layer.provide(ports)));
  const shared = Context.get(built, SharedLinks);
  const read = (lookUp = world.lookUp) =>
    Effect.flatMap(shared.begin(name), (begun) => shared.end(name, begun, lookUp)).pipe(
      Effect.map(Option.match({ onNone: () => 0, onSome: ({ linkVersion }) => linkVersion })),
    );
  return {
    cut,
    /** Finds itself with a cache that nobody else knows. */
    move: Effect.map(newCache, (moved) => {
      other = moved;
    }),
    shared,
    read,
    write: <A, E>(write: Effect.Effect<A, E>) => shared.changing(pid, [chatId], write),
  };
});

type Node = Effect.Success<ReturnType<typeof newNode>>;

/** From when every node uses the cache. */
const inUse = TestClock.adjust("20 seconds");

const twoNodes = Effect.gen(function* () {
  const world = yield* newWorld;
  const [here, there] = [yield* newNode(world), yield* newNode(world)];
  yield* inUse;
  return { world, here, there };
});

/** What is asked for a second time is cached: the store is asked twice, or three times when it is not. */
const readThrice = (one: Node, other: Node) => Effect.all([one.read(), other.read(), one.read()]);

/** How many times the store is asked meanwhile. */
const lookUpsOf = <E>(world: World, reads: Effect.Effect<unknown, E>) =>
  Effect.suspend(() => {
    const before = world.lookUps;
    return Effect.map(reads, () => world.lookUps - before);
  });

describe("SharedLinks", () => {
  it.effect("asks the store twice in 2 seconds for what any node reads, also for what is not there", () =>
    Effect.gen(function* () {
      const { world, here, there } = yield* twoNodes;
      const reads = readThrice(here, there);
      assert.strictEqual(yield* lookUpsOf(world, reads), 2);
      yield* TestClock.adjust("2 seconds");
      assert.strictEqual(yield* lookUpsOf(world, reads), 2);
      yield* there.write(world.commit);
      assert.strictEqual(yield* lookUpsOf(world, reads), 2);
      assert.deepStrictEqual(yield* reads, [1, 1, 1]);
    }),
  );

  it.effect("a reader that stood still between its look-up and its fill leaves nothing old", () =>
    Effect.gen(function* () {
      const { world, here, there } = yield* twoNodes;
      const goesOn = yield* Deferred.make<void>();
      yield* there.read();
      const frozen = yield* Effect.forkChild(
        here.read(Effect.tap(world.lookUp, () => Deferred.await(goesOn))),
        {
          startImmediately: true,
        },
      );
      yield* there.write(world.commit);
      yield* Deferred.succeed(goesOn, undefined);
      assert.strictEqual(yield* Fiber.join(frozen), 0);
      assert.deepStrictEqual(yield* Effect.all([here.read(), there.read()]), [1, 1]);
    }),
  );

  it.effect("while a write is under way the store is asked, and so it is after a writer that died", () =>
    Effect.gen(function* () {
      const { world, here, there } = yield* twoNodes;
      for (const dies of [Effect.never, Effect.andThen(world.commit, Effect.never), Effect.fail("failed")]) {
        yield* there.read();
        const writer = yield* Effect.forkChild(Effect.exit(here.write(dies)), { startImmediately: true });
        yield* Fiber.interrupt(writer);
        yield* TestClock.adjust(longestWrite.ofRecord);
        const reads = readThrice(there, there);
        assert.strictEqual(yield* lookUpsOf(world, reads), 3);
        yield* TestClock.adjust("1 second");
        assert.strictEqual(yield* lookUpsOf(world, reads), 2);
      }
    }),
  );

  it.effect.each(["request", "answer"] as const)(
    "a write that cannot fence, its %s lost, is not made before every node reads the store",
    (lost) =>
      Effect.gen(function* () {
        const { world, here, there } = yield* twoNodes;
        here.cut.fence = lost;
        yield* there.read();
        const writer = yield* Effect.forkChild(here.write(world.commit), { startImmediately: true });
        yield* TestClock.adjust("1 second");
        assert.strictEqual(world.version, 0);
        yield* TestClock.adjust("500 millis");
        assert.strictEqual(yield* Fiber.join(writer), 1);
        assert.strictEqual(yield* lookUpsOf(world, readThrice(there, there)), 3);
        // The next one need not wait.
        assert.strictEqual(yield* here.write(world.commit), 2);
        yield* inUse;
        assert.strictEqual(yield* lookUpsOf(world, readThrice(there, there)), 2);
      }),
  );

  it.effect("a write whose fence is lost before it is lifted answers when every node reads the store", () =>
    Effect.gen(function* () {
      const { world, here, there } = yield* twoNodes;
      const losses = [
        world.restartCache,
        Effect.sync(() => {
          here.cut.all = "request";
        }),
      ];
      for (const loss of losses) {
        const version = world.version + 1;
        const writer = yield* Effect.forkChild(here.write(Effect.tap(world.commit, () => loss)), {
          startImmediately: true,
        });
        yield* TestClock.adjust("1 second");
        assert.isUndefined(writer.pollUnsafe());
        yield* TestClock.adjust("500 millis");
        assert.strictEqual(yield* Fiber.join(writer), version);
        assert.strictEqual(yield* lookUpsOf(world, readThrice(there, there)), 3);
        yield* inUse;
      }
    }),
  );

  it.effect(
    "a cache that was started again is not used until no write is left that fenced in the last one",
    () =>
      Effect.gen(function* () {
        const { world, here, there } = yield* twoNodes;
        const fenced = Effect.andThen(world.restartCache, Effect.delay(world.commit, longestWrite.ofRecord));
        const writer = yield* Effect.forkChild(here.write(fenced), { startImmediately: true });
        for (let elapsed = 0; elapsed < longestWrite.ofRecord; elapsed += 500) {
          assert.strictEqual(yield* lookUpsOf(world, readThrice(there, there)), 3);
          yield* TestClock.adjust("500 millis");
        }
        yield* TestClock.adjust("5 seconds");
        yield* Fiber.join(writer);
        assert.strictEqual(yield* there.read(), 1);
        yield* inUse;
        assert.strictEqual(yield* lookUpsOf(world, readThrice(there, here)), 2);
      }),
  );

  it.effect(
    "a write that fenced in another cache than a reader's is not made while that one may be read",
    () =>
      Effect.gen(function* () {
        const { world, here, there } = yield* twoNodes;
        there.cut.look = "time";
        yield* here.move;
        yield* TestClock.adjust("650 millis");
        yield* there.read();
        const writer = yield* Effect.forkChild(here.write(world.commit), { startImmediately: true });
        assert.strictEqual(yield* there.read(), world.version);
        yield* TestClock.adjust("300 millis");
        assert.strictEqual(yield* there.read(), world.version);
        yield* TestClock.adjust("2 seconds");
        yield* Fiber.join(writer);
        assert.strictEqual(yield* there.read(), 1);
      }),
  );

  it.effect("a node that takes its cache for the first one waits for those who read from another", () =>
    Effect.gen(function* () {
      const world = yield* newWorld;
      yield* world.agreement.adopt("another", 0);
      const read = Effect.succeed({ run: null, adoptedMsAgo: 0, isOpen: false, closed: new Set<Pid>() });
      const stoodStill = yield* newNode(world, { ...world.agreement, read });
      const writer = yield* Effect.forkChild(stoodStill.write(world.commit), { startImmediately: true });
      yield* TestClock.adjust("1499 millis");
      assert.strictEqual(world.version, 0);
      yield* TestClock.adjust("1 millis");
      assert.strictEqual(yield* Fiber.join(writer), 1);
    }),
  );

  it.effect("nobody caches a scope while all of it is changed", () =>
    Effect.gen(function* () {
      const { world, here, there } = yield* twoNodes;
      yield* there.read();
      const change = Effect.delay(world.commit, longestWrite.ofScope);
      const writer = yield* Effect.forkChild(here.shared.changingScopes([pid], change));
      yield* TestClock.adjust("1500 millis");
      assert.strictEqual(yield* lookUpsOf(world, readThrice(there, there)), 3);
      yield* TestClock.adjust(longestWrite.ofScope);
      yield* Fiber.join(writer);
      assert.strictEqual(yield* there.read(), 1);
      yield* inUse;
      assert.strictEqual(yield* lookUpsOf(world, readThrice(there, here)), 2);
    }),
  );

  it.effect("a node that learns nothing new does without the cache, within a second", () =>
    Effect.gen(function* () {
      const { world, here, there } = yield* twoNodes;
      yield* readThrice(there, there);
      here.cut.look = "request";
      yield* TestClock.adjust("1 second");
      assert.strictEqual(yield* lookUpsOf(world, readThrice(here, here)), 3);
      delete here.cut.look;
      yield* TestClock.adjust("1 second");
      assert.strictEqual(yield* lookUpsOf(world, readThrice(here, there)), 2);
    }),
  );
});
