import { Counters } from "@accountlink/core";
import type { CounterRule } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Clock, Effect } from "effect";
import * as FastCheck from "fast-check";
import { check, hostileTexts, uniqueText } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { atOnce } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";

const minute = 60_000;

const ruleOf = (limit: number, parts: Partial<CounterRule> = {}): CounterRule => ({
  key: uniqueText(),
  limit,
  durationMs: minute,
  ...parts,
});

/**
 * The current time. Cases cannot start at another time, because servers drop windows that have ended by the server's
 * clock.
 */
const start = Clock.currentTimeMillis;

const texts: Cases<Counters> = {
  "keys keep every Unicode text distinct": function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const prefix = uniqueText();
    const rules = hostileTexts.map((text) => ruleOf(1, { key: `${prefix}${text}` }));
    const admissions = yield* Effect.forEach(rules, (rule) => counters.admit([rule], now));
    expectEqual(
      pluck(admissions, "admitted"),
      rules.map(() => true),
    );
  },
};

const edges: Cases<Counters> = {
  "a limit of 0 or less admits nothing": function* () {
    const counters = yield* Counters;
    const now = yield* start;
    for (const limit of [0, -3]) {
      const states = [{ count: 0, resetsAt: now + minute }];
      expectEqual(yield* counters.admit([ruleOf(limit)], now), { admitted: false, states });
    }
  },
};

const clocks: Cases<Counters> = {
  "a window that began before the clock was set back begins anew": function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const rules = [ruleOf(1)];
    yield* counters.admit(rules, now + 60 * minute);
    const fresh = [{ count: 0, resetsAt: now + minute }];
    expectEqual(yield* counters.read(rules, now), fresh);
    const states = [{ count: 1, resetsAt: now + minute }];
    expectEqual(yield* counters.admit(rules, now), { admitted: true, states });
    expectEqual(yield* counters.admit(rules, now), { admitted: false, states });
  },
};

const races: Cases<Counters> = {
  "concurrent requests are counted one after the other": function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const rules = [ruleOf(9), ruleOf(4, { durationMs: 1_000 })];
    yield* counters.admit(rules, now);
    const admissions = yield* Effect.replicateEffect(counters.admit(rules, now), 5, atOnce);
    const seen = admissions
      .filter(({ admitted }) => admitted)
      .map(({ states }) => states.map(({ count }) => count));
    expectEqual(
      seen.toSorted(([one = 0], [other = 0]) => one - other),
      [
        [2, 2],
        [3, 3],
        [4, 4],
      ],
    );
  },

  "concurrent requests with overlapping rules count exactly the admitted ones": function* () {
    const counters = yield* Counters;
    const now = yield* start;
    const [a, b, c] = [ruleOf(10), ruleOf(15), ruleOf(10)];
    const pairs = Array.from({ length: 20 }).flatMap(() => [
      [a, b],
      [b, c],
      [c, a],
    ]);
    const admissions = yield* Effect.forEach(pairs, (rules) => counters.admit(rules, now), atOnce);
    const admittedOf = (rule: CounterRule) =>
      pairs.filter((rules, i) => rules.includes(rule) && admissions[i]?.admitted).length;
    const states = yield* counters.read([a, b, c], now);
    expectEqual(pluck(states, "count"), [a, b, c].map(admittedOf));
    expectEqual(
      states.map(({ count }, i) => count <= ([10, 15, 10][i] as number)),
      [true, true, true],
    );
  },
};

interface Step {
  readonly pass: Millis;
  readonly admit: boolean;
  readonly rules: ReadonlyArray<{
    readonly key: number;
    readonly limit: number;
    readonly durationMs: Millis;
  }>;
}

const steps: FastCheck.Arbitrary<ReadonlyArray<Step>> = FastCheck.array(
  FastCheck.record({
    // The milliseconds that pass before the step. Often 20,000, so that the step runs exactly when a window ends.
    pass: FastCheck.oneof(FastCheck.nat(40_000), FastCheck.constantFrom(0, 20_000)),
    admit: FastCheck.boolean(),
    rules: FastCheck.uniqueArray(
      FastCheck.record({
        key: FastCheck.nat(3),
        limit: FastCheck.integer({ min: 1, max: 3 }),
        durationMs: FastCheck.constantFrom(20_000, minute),
      }),
      { selector: ({ key }) => key, maxLength: 3 },
    ),
  }),
  { maxLength: 30, size: "max" },
);

interface ModelWindow {
  readonly key: string;
  count: number;
  readonly resetsAt: Millis;
}

const modelOf = (begun: Array<ModelWindow>, now: Millis) => {
  const find = (key: string) => begun.find((window) => window.key === key && now < window.resetsAt);
  const read = (rules: ReadonlyArray<CounterRule>) =>
    rules.map(({ key, durationMs }) => {
      const { count, resetsAt } = find(key) ?? { count: 0, resetsAt: now + durationMs };
      return { count, resetsAt };
    });
  const admit = (rules: ReadonlyArray<CounterRule>) => {
    const admitted = rules.every(({ key, limit }) => (find(key)?.count ?? 0) < limit);
    for (const { key, durationMs } of admitted ? rules : []) {
      const window = find(key);
      if (window === undefined) begun.push({ key, count: 1, resetsAt: now + durationMs });
      else window.count++;
    }
    return { admitted, states: read(rules) };
  };
  return { admit, read };
};

const properties: Cases<Counters> = {
  "any sequence of requests agrees with the model": check(
    steps,
    Effect.fnUntraced(function* (sequence) {
      const counters = yield* Counters;
      const prefix = uniqueText();
      const windows: Array<ModelWindow> = [];
      let now = yield* start;
      for (const { pass, admit, rules } of sequence) {
        now += pass;
        const named = rules.map(({ key, limit, durationMs }) => ({
          key: `${prefix}:${key}`,
          limit,
          durationMs,
        }));
        const model = modelOf(windows, now);
        if (admit) expectEqual(yield* counters.admit(named, now), model.admit(named));
        else expectEqual(yield* counters.read(named, now), model.read(named));
      }
    }),
  ),
};

/** Tests `Counters`: Unicode keys, concurrent requests, a clock that is set back, and random requests against a model. */
export const countersSuite = (options: SuiteOptions<Counters>): void =>
  suite("Counters", options, { ...texts, ...edges, ...clocks, ...races, ...properties });
