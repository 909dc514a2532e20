/** Cases for windows that survive a loss of the counters, because their counts are restored from checkpoints. */
import { Counters } from "@accountlink/core";
import type { Checkpoint, CounterRule } from "@accountlink/core/limits";
import { Effect } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { minute, ruleOf, start } from "./rules.ts";

const atOnce = { concurrency: "unbounded" } as const;

/** A rule for a window that began a day ago, before the counters under test started, and that ends in a minute. */
const durableRule = (limit: number, checkpoint: Partial<Checkpoint> = {}) =>
  Effect.map(start, (now) =>
    ruleOf(limit, { checkpoint: { since: now - 24 * 60 * minute, floor: null, unsynced: 0, ...checkpoint } }),
  );

const withFloor = (rule: CounterRule, floor: number, unsynced = 0): CounterRule => ({
  ...rule,
  checkpoint: { since: rule.checkpoint?.since ?? 0, floor, unsynced },
});

export const durableWindows: Cases<Counters> = {
  "a durable window older than the counters is reported as forgotten until a request gives its floor":
    Effect.gen(function* () {
      const counters = yield* Counters;
      const now = yield* start;
      const rule = yield* durableRule(9);
      const states = (count: number) => [{ count, resetsAt: now + minute }];
      const forgotten = { admitted: false, states: states(0), forgotten: [0] };
      expectEqual(yield* counters.admit([rule], now), forgotten);
      expectEqual(yield* counters.admit([rule], now), forgotten);
      expectEqual(yield* counters.admit([withFloor(rule, 3)], now), { admitted: true, states: states(4) });
      expectEqual(yield* counters.admit([rule], now), { admitted: true, states: states(5) });
      expectEqual(yield* counters.read([rule], now), states(5));
    }),

  "a request with forgotten windows counts nothing, and reports each forgotten window": Effect.gen(
    function* () {
      const counters = yield* Counters;
      const now = yield* start;
      const [short, known] = [ruleOf(5), withFloor(yield* durableRule(9), 2)];
      const [one, other] = [yield* durableRule(9, { unsynced: 4 }), yield* durableRule(9)];
      const rules = [one, short, known, other];
      const { admitted, forgotten } = yield* counters.admit(rules, now);
      // In a cluster, one answer may name only some of the forgotten windows. Later answers name the others.
      expectEqual([admitted, forgotten?.every((index) => index === 0 || index === 3)], [false, true]);
      const states = yield* counters.read(rules, now);
      expectEqual([states[0]?.count, states[1]?.count, states[3]?.count], [0, 0, 0]);
    },
  ),

  "a floor raises the count before the request is decided, and never lowers it": Effect.gen(function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const rule = yield* durableRule(5);
    const states = (count: number) => [{ count, resetsAt: now + minute }];
    expectEqual(yield* counters.admit([withFloor(rule, 5)], now), { admitted: false, states: states(5) });
    const wider = { ...rule, limit: 9 };
    expectEqual(yield* counters.admit([withFloor(wider, 2)], now), { admitted: true, states: states(6) });
  }),

  "unsynced counts are added, even by a refused request": Effect.gen(function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const rule = yield* durableRule(9);
    const withUnsynced = (unsynced: number): CounterRule => ({
      ...rule,
      checkpoint: { since: rule.checkpoint?.since ?? 0, floor: null, unsynced },
    });
    const states = (count: number) => [{ count, resetsAt: now + minute }];
    expectEqual(yield* counters.admit([withFloor(rule, 1, 2)], now), { admitted: true, states: states(4) });
    expectEqual(yield* counters.admit([withUnsynced(3)], now), { admitted: true, states: states(8) });
    expectEqual(yield* counters.admit([withUnsynced(2)], now), { admitted: false, states: states(10) });
    expectEqual(yield* counters.read([rule], now), states(10));
  }),

  "a checkpoint applies only to a window that ends when its rule says": Effect.gen(function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const rule = yield* durableRule(9);
    yield* counters.admit([withFloor(rule, 0)], now);
    const states = [{ count: 2, resetsAt: now + minute }];
    expectEqual(yield* counters.admit([withFloor(rule, 7, 5)], now + 1), { admitted: true, states });
  }),

  "a restored window ends at its original time": Effect.gen(function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const rule = yield* durableRule(5);
    yield* counters.admit([withFloor(rule, 5)], now);
    const next = withFloor(rule, 0);
    expectEqual(yield* counters.admit([next], now + minute), {
      admitted: true,
      states: [{ count: 1, resetsAt: now + 2 * minute }],
    });
  }),

  "a limit of 0 or less admits nothing": Effect.gen(function* () {
    const counters = yield* Counters;
    const now = yield* start;
    for (const limit of [0, -3]) {
      const states = [{ count: 0, resetsAt: now + minute }];
      expectEqual(yield* counters.admit([ruleOf(limit)], now), { admitted: false, states });
    }
  }),

  "concurrent requests that restore a window never exceed its limit": Effect.gen(function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const rules = [ruleOf(30), withFloor(yield* durableRule(20), 12)];
    const admissions = yield* Effect.forEach(
      Array.from({ length: 40 }),
      () => counters.admit(rules, now),
      atOnce,
    );
    expectEqual(admissions.filter(({ admitted }) => admitted).length, 8);
    const states = yield* counters.read(rules, now);
    expectEqual(
      states.map(({ count }) => count),
      [8, 20],
    );
  }),
};
