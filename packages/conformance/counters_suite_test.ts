import { CacheMemory } from "@accountlink/cache-memory";
import { type Checkpoint, Counters } from "@accountlink/core";
import { Effect } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { countersSuite } from "./mod.ts";

type Shape = Counters["Service"];

const memory = CacheMemory.layer;

/** Counts each rule on its own. */
const oneByOne = (counters: Shape): Shape["admit"] =>
  Effect.fnUntraced(function* (rules, now) {
    const admissions = yield* Effect.forEach(rules, (rule) => counters.admit([rule], now));
    return {
      admitted: admissions.every(({ admitted }) => admitted),
      states: admissions.flatMap(({ states }) => states),
    };
  });

type Rules = Parameters<Shape["admit"]>[0];

const withCheckpoints = (rules: Rules, change: (checkpoint: Checkpoint) => Checkpoint | undefined): Rules =>
  rules.map(({ checkpoint, ...rule }) => {
    const changed = checkpoint === undefined ? undefined : change(checkpoint);
    return changed === undefined ? rule : { ...rule, checkpoint: changed };
  });

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (counters: Shape) => Partial<Shape>>> = {
  "of many at once exactly as many are admitted as there is room for": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const states = yield* counters.read(rules, now);
      yield* Effect.yieldNow;
      const admitted = rules.every(({ limit }, i) => (states[i]?.count ?? 0) < limit);
      if (!admitted) return { admitted, states };
      return yield* counters.admit(
        rules.map((rule) => ({ ...rule, limit: Number.MAX_SAFE_INTEGER })),
        now,
      );
    }),
  }),
  "several rules count all or none": (counters) => ({ admit: oneByOne(counters) }),
  "any sequence of requests is answered as the rule says": (counters) => ({ admit: oneByOne(counters) }),
  "a window admits up to its limit, and starts with the first count": (counters) => ({
    read: (rules, now) => Effect.map(counters.admit(rules, now), ({ states }) => states),
  }),
  "a window lasts until its end and not at it": (counters) => ({
    admit: (rules, now) => counters.admit(rules, now - 1),
  }),
  "a lasting window that began before the counters is forgotten, until its floor is given": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, () => undefined),
        now,
      ),
  }),
  "a lasting window of which nothing was counted is given a floor of 0": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, (checkpoint) => ({
          ...checkpoint,
          floor: checkpoint.floor === 0 ? null : checkpoint.floor,
        })),
        now,
      ),
  }),
  "a request with a forgotten window is counted nowhere, and names each such window": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const admission = yield* counters.admit(rules, now);
      if (admission.forgotten !== undefined)
        yield* counters.admit(
          withCheckpoints(rules, () => undefined),
          now,
        );
      return admission;
    }),
  }),
  "a floor raises a window before the decision, and never lowers it": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, (checkpoint) => ({
          ...checkpoint,
          floor: checkpoint.floor === null ? null : Math.min(checkpoint.floor, 4),
        })),
        now,
      ),
  }),
  "what is owed is counted with the request, also when it is refused": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, (checkpoint) => ({ ...checkpoint, owed: 0 })),
        now,
      ),
  }),
  "a checkpoint is that of the window which ends when the rule says, and of no other": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const states = yield* counters.read(rules, now);
      const atTheirEnds = rules.map((rule, i) => ({
        ...rule,
        durationMs: (states[i]?.resetsAt ?? now) - now,
      }));
      return yield* counters.admit(atTheirEnds, now);
    }),
  }),
  "a limit of 0 or less admits nothing": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        rules.map((rule) => ({ ...rule, limit: rule.limit <= 0 ? 1 : rule.limit })),
        now,
      ),
  }),
  "keys are texts, told apart to the letter": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        rules.map((rule) => ({ ...rule, key: rule.key.toLowerCase() })),
        now,
      ),
  }),
};

test.describe("countersSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => countersSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, Counters, mistake);
    test.expect(await failingTitles((api) => countersSuite({ name: "", layer, test: api }))).toContain(title);
  });
});
