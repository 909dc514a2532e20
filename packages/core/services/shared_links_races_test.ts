import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber, Logger } from "effect";
import { TestClock } from "effect/testing";
import { type History, type Mistakes, randomOf, startNodes } from "../internal/test_nodes.ts";

const nodeCount = 3;

/** Two minutes of three nodes, with whatever the seed brings upon them. */
const twoMinutesOf = (seed: number, mistakes: Mistakes = {}) =>
  Effect.gen(function* () {
    const random = randomOf(seed);
    const starting = yield* Effect.forkChild(startNodes(nodeCount, random, mistakes));
    // Until the cache is in use for the first time.
    yield* TestClock.adjust("10 seconds");
    const { history, cache, nodes } = yield* Fiber.join(starting);
    for (let elapsed = 0; elapsed < 120_000; ) {
      const step = 500 + 8_000 * random();
      elapsed += step;
      yield* TestClock.adjust(step);
      const [node, other] = [random(), random()].map((part) => Math.floor(nodeCount * part)) as [
        number,
        number,
      ];
      const event = random();
      if (event < 0.05) yield* cache.restartFor(nodes);
      else if (event < 0.1) yield* cache.restartFor([node]);
      else if (event < 0.2) cache.join(node, other);
      else cache.cut(node, event < 0.3);
    }
    return history;
  }).pipe(Effect.scoped, Effect.provide([Logger.layer([]), TestClock.layer()]));

const seeds = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

/** The histories of seeds, until one has a problem. */
const firstProblem = Effect.fnUntraced(function* (from: number, mistakes: Mistakes) {
  for (const seed of seeds(from, 100)) {
    const { problems } = yield* twoMinutesOf(seed, mistakes);
    if (problems.length > 0) return problems[0];
  }
  return null;
});

/** What the protocol is made of, each part taken away; and the first seed that is known to show it. */
const mistakes: Readonly<Record<string, readonly [seed: number, mistakes: Mistakes]>> = {
  "a fence that does not stand": [0, { cache: () => ({ fence: () => Effect.succeed(true) }) }],
  "a fill without its token": [
    20,
    {
      cache: (cache) => ({
        put: Effect.fnUntraced(function* (lease, name, entry) {
          const read = yield* cache.read(lease, name, 2_000);
          if (read._tag === "Miss") yield* cache.put(lease, name, { ...entry, token: read.token ?? "" });
        }),
      }),
    },
  ],
  "a lease that lasts": [
    12,
    {
      cache: (cache) => ({
        read: (lease, name, tokenMs) => cache.read({ ...lease, until: Infinity }, name, tokenMs),
        put: (lease, name, entry) => cache.put({ ...lease, until: Infinity }, name, entry),
      }),
    },
  ],
  "a new run that is used at once": [
    5,
    { agreement: (agreement) => ({ adopt: (run) => agreement.adopt(run, 0) }) },
  ],
  "a commit that comes too late": [2, { commitsLate: true }],
  "a commit that takes too long, which nobody learns of": [21, { agreement: ({ read }) => ({ read }) }],
  "a closure that nobody learns of": [0, { agreement: () => ({ close: () => Effect.void }) }],
};

describe("SharedLinks under way on three nodes", () => {
  it.live("never shows less than was seen, and hits", () =>
    Effect.gen(function* () {
      const histories: Array<History> = [];
      for (const seed of seeds(0, 10)) {
        const history = yield* twoMinutesOf(seed);
        assert.deepStrictEqual(history.problems, [], `seed ${seed}`);
        histories.push(history);
      }
      const sum = (count: (history: History) => number) =>
        histories.reduce((total, history) => total + count(history), 0);
      assert.isAbove(sum(({ hits }) => hits) / sum(({ reads }) => reads), 0.05);
      assert.isAbove(
        sum(({ writes }) => writes),
        1_000,
      );
    }),
  );

  it.live.each(Object.entries(mistakes))("would show %s", ([, [seed, mistake]]) =>
    Effect.map(firstProblem(seed, mistake), (problem) => assert.isNotNull(problem)),
  );
});
