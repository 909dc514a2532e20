/**
 * Storms of conflicting writes on a real Redis, from two nodes: no write is refused, none is lost, and a neighbour's
 * lookups and writes go on.
 */
import { ChatId, GameId, GuildId, LinkStore, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { noPlan, RolePlanStore } from "@accountlink/core/roles";
import { StorageRedis } from "@accountlink/redis";
import { redisUrl, whyNoRedisUrl } from "@accountlink/test-servers";
import { expect, testLive } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Layer, Redacted } from "effect";

const writers = 40;
const writesOfEach = 10;
/** How many times as slow the neighbour may be, and the shortest time to compare with, in milliseconds. */
const [most, least] = [5, 20];

const pidOf = (index: number) => Pid.make(`pid_${String(index).padStart(32, "0")}`);
const [attackers, neighbours] = [pidOf(100), pidOf(101)];
const ada = ChatId.make("100001");
const guildId = GuildId.make("700000000000000001");
const origin = { actor: { type: "operator", id: "test" }, requestId: null } as const;
const numbers = Array.from({ length: writers }, (_, index) => index);

const p99 = (times: ReadonlyArray<number>): number =>
  times.toSorted((one, other) => one - other)[Math.ceil(0.99 * times.length) - 1] ?? Infinity;

const makeNodes = Effect.gen(function* () {
  const url = Redacted.make(yield* redisUrl);
  const node = Layer.build(Layer.fresh(StorageRedis.layer({ url, prefix: `storm-${process.pid}:` })));
  return [yield* node, yield* node] as const;
});

const makeScope = Effect.fnUntraced(function* (account: string, pid: Pid) {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: account, chatId: null, tier: "free" });
  yield* keys.ensureScope(account, { kind: "global" }, pid);
});

/** Looks up a link of the neighbour and changes it until `isOver`. Returns how long both took, in milliseconds. */
const askBeside = Effect.fnUntraced(function* (isOver: (asked: number) => boolean) {
  const links = yield* LinkStore;
  const times: Array<number> = [];
  while (!isOver(times.length)) {
    const began = performance.now();
    yield* links.findByChatId(neighbours, ada);
    const gameId = GameId.make(String(1 + (times.length % 2)));
    yield* links.setGame({ ...origin, pid: neighbours, at: 1, chatId: ada, gameId });
    times.push(performance.now() - began);
  }
  return times;
});

testLive.skipIf((await whyNoRedisUrl()) !== null)(
  "writes of one link, and plans of one guild, conflict without a refusal",
  function* () {
    const nodes = yield* makeNodes;
    const [first] = nodes;
    const nodeOf = (index: number) => nodes[index % 2] ?? first;
    yield* Effect.gen(function* () {
      for (const [account, pid] of [
        ["attackers", attackers],
        ["neighbour", neighbours],
      ] as const) {
        yield* makeScope(account, pid);
      }
      for (const index of numbers) yield* makeScope(`account ${index}`, pidOf(index));
    }).pipe(Effect.provide(first));

    type Writer = (index: number) => Effect.Effect<void, unknown, LinkStore | RolePlanStore>;
    const setLink: Writer = (index) =>
      Effect.gen(function* () {
        const links = yield* LinkStore;
        for (let write = 0; write < writesOfEach; write++) {
          const gameId = GameId.make(String(1 + index * writesOfEach + write));
          yield* links.setGame({ ...origin, pid: attackers, at: write, chatId: ada, gameId });
        }
      });
    const putPlan: Writer = (index) =>
      Effect.gen(function* () {
        const plans = yield* RolePlanStore;
        for (let write = 0; write < writesOfEach; write++) {
          const settings = { ...noPlan, state: "paused", nickname: `${write}` } as const;
          const place = { pid: pidOf(index), guildId };
          expect(yield* plans.put({ ...origin, ...place, settings, position: 0, at: write })).toBe(null);
        }
      });

    const alone = p99(
      yield* Effect.provide(
        askBeside((asked) => asked === 300),
        first,
      ),
    );
    for (const [name, write] of [
      ["links", setLink],
      ["plans", putPlan],
    ] as const) {
      const began = performance.now();
      const storm = yield* Effect.forkChild(
        Effect.forEach(numbers, (index) => Effect.provide(write(index), nodeOf(index)), {
          concurrency: "unbounded",
          discard: true,
        }),
      );
      const times = yield* Effect.provide(
        askBeside(() => storm.pollUnsafe() !== undefined),
        first,
      );
      yield* Fiber.join(storm);
      const took = Math.round(performance.now() - began);
      console.log(
        `${name}: ${took} ms, neighbour ${alone.toFixed(1)} → ${p99(times).toFixed(1)} ms, ${times.length}`,
      );
      expect(p99(times)).toBeLessThanOrEqual(most * Math.max(least, alone));
    }
    const links = yield* Effect.provide(
      LinkStore.use((store) => store.findByChatId(attackers, ada)),
      first,
    );
    expect(links).toMatchObject({ value: { linkVersion: writers * writesOfEach } });
  },
);
