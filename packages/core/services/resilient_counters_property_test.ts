import { assert, describe, it } from "@effect/vitest";
import { Clock, Effect, type Scope } from "effect";
import { TestClock } from "effect/testing";
import * as FastCheck from "fast-check";
import type { StoreUnavailable } from "../errors.ts";
import { dayMs, dayRule, isAdmitted, makeDeployment, type Node } from "../internal/test_deployment.ts";
import type { Millis } from "../link.ts";

/** What happens, one after the other. */
type Step =
  | { readonly do: "admit"; readonly node: number }
  | { readonly do: "cut" | "join" | "replace"; readonly node: number }
  | { readonly do: "shared down" | "shared up" | "ledger down" | "ledger up" | "lose" }
  | { readonly do: "pass"; readonly millis: number };

interface Scenario {
  readonly nodes: number;
  readonly limit: number;
  readonly steps: ReadonlyArray<Step>;
}

const node = FastCheck.nat(3);
const admit = FastCheck.record({ do: FastCheck.constant("admit" as const), node });
const pass = FastCheck.record({ do: FastCheck.constant("pass" as const), millis: FastCheck.nat(3_000) });

const scenarios = (faults: ReadonlyArray<FastCheck.Arbitrary<Step>>) =>
  FastCheck.record({
    nodes: FastCheck.integer({ min: 1, max: 4 }),
    limit: FastCheck.integer({ min: 1, max: 25 }),
    steps: FastCheck.array(
      FastCheck.oneof(
        { arbitrary: admit, weight: 12 },
        { arbitrary: pass, weight: 12 },
        ...faults.map((arbitrary) => ({ arbitrary, weight: 1 })),
      ),
      { minLength: 40, maxLength: 120, size: "max" },
    ),
  });

const outages: ReadonlyArray<FastCheck.Arbitrary<Step>> = [
  FastCheck.record({ do: FastCheck.constantFrom("cut" as const, "join" as const), node }),
  FastCheck.record({ do: FastCheck.constantFrom("shared down" as const, "shared up" as const) }),
  FastCheck.record({ do: FastCheck.constant("replace" as const), node }),
];
const loss = FastCheck.record({ do: FastCheck.constant("lose" as const) });
const ledgerOutages = FastCheck.record({
  do: FastCheck.constantFrom("ledger down" as const, "ledger up" as const),
});

/** What was admitted, by whom, when, and by which counters. */
interface Admitted {
  readonly at: Millis;
  readonly node: number;
  readonly alone: boolean;
}

/** Plays the steps, and gives what a judge needs to know of them. */
const play = Effect.fnUntraced(function* ({ nodes: count, limit, steps }: Scenario) {
  // In the morning of a day, so that midnight is far.
  yield* TestClock.setTime((Math.floor((yield* Clock.currentTimeMillis) / dayMs) + 1) * dayMs + dayMs / 4);
  const { state, openNode, lose } = yield* makeDeployment;
  const nodes: Array<Node> = [];
  for (let i = 0; i < count; i++) {
    nodes.push(yield* openNode);
    yield* TestClock.adjust(230);
  }
  yield* TestClock.adjust("3 seconds");
  const played = { admitted: [] as Array<Admitted>, losses: [] as Array<Millis>, requests: 0 };

  const ask = Effect.fnUntraced(function* (index: number) {
    const target = nodes[index] as Node;
    const [at, alone] = [yield* Clock.currentTimeMillis, state.isSharedDown || target.isCutOff];
    played.requests++;
    if (yield* isAdmitted(target, yield* dayRule(limit))) played.admitted.push({ at, node: index, alone });
  });
  // As in a rolling upgrade: the new one is there before the old one goes.
  const replace = Effect.fnUntraced(function* (index: number) {
    if (state.isLedgerDown) return;
    const next = yield* openNode;
    yield* (nodes[index] as Node).stop;
    nodes[index] = next;
  });
  const change = (to: Partial<typeof state>) => Effect.sync(() => Object.assign(state, to));
  const link = (index: number, isCutOff: boolean) =>
    Effect.sync(() => Object.assign(nodes[index] as Node, { isCutOff }));
  const perform: {
    readonly [Do in Step["do"]]: (
      index: number,
      millis: Millis,
    ) => Effect.Effect<unknown, StoreUnavailable, Scope.Scope>;
  } = {
    admit: ask,
    cut: (index) => link(index, true),
    join: (index) => link(index, false),
    replace,
    "shared down": () => change({ isSharedDown: true }),
    "shared up": () => change({ isSharedDown: false }),
    "ledger down": () => change({ isLedgerDown: true }),
    "ledger up": () => change({ isLedgerDown: false }),
    lose: () =>
      Effect.andThen(
        lose,
        Effect.map(Clock.currentTimeMillis, (at) => played.losses.push(at)),
      ),
    pass: (_, millis) => TestClock.adjust(millis),
  };
  for (const step of steps) {
    const index = "node" in step ? step.node % count : 0;
    yield* perform[step.do](index, "millis" in step ? step.millis : 0);
  }
  return played;
});

/** How many a node admitted at most within so long. */
const mostWithin = (admitted: ReadonlyArray<Admitted>, millis: Millis): number =>
  Math.max(
    0,
    ...admitted.map(({ at }) => admitted.filter((other) => other.at > at - millis && other.at <= at).length),
  );

/** The bound of docs/consistency.md, for a ledger that answers. */
const boundOf = (
  { limit, nodes }: Scenario,
  { admitted, losses }: Effect.Success<ReturnType<typeof play>>,
) => {
  const aroundLosses = losses.map((lost) => admitted.filter(({ at }) => Math.abs(at - lost) <= 2_000).length);
  const byNode = Array.from({ length: nodes }, (_, i) => admitted.filter((each) => each.node === i));
  const learning = admitted.some(({ alone }) => alone) ? byNode.map((each) => mostWithin(each, 2_000)) : [];
  return [limit, ...aroundLosses, ...learning].reduce((total, next) => total + next, 0);
};

const holds = (
  faults: ReadonlyArray<FastCheck.Arbitrary<Step>>,
  judge: (scenario: Scenario, played: Effect.Success<ReturnType<typeof play>>) => void,
) =>
  Effect.promise(() =>
    FastCheck.assert(
      FastCheck.asyncProperty(scenarios(faults), async (scenario) => {
        const run = play(scenario).pipe(Effect.scoped, Effect.provide(TestClock.layer()));
        judge(scenario, await Effect.runPromise(run));
      }),
      { numRuns: 40 },
    ),
  );

describe("the day's limit, over nodes of which any may fail", () => {
  it.effect("is exact while nothing fails", () =>
    holds([], ({ limit }, { admitted, requests }) => {
      assert.strictEqual(admitted.length, Math.min(limit, requests));
    }),
  );

  it.effect("is exact while nodes are replaced", () =>
    holds([FastCheck.record({ do: FastCheck.constant("replace" as const), node })], ({ limit }, played) => {
      assert.strictEqual(played.admitted.length, Math.min(limit, played.requests));
    }),
  );

  it.effect("is passed at most by what was admitted around a loss", () =>
    holds([loss], (scenario, played) => {
      assert.isAtMost(played.admitted.length, boundOf(scenario, played));
    }),
  );

  it.effect("is passed at most by what nodes admit until they learn of each other", () =>
    holds(outages, (scenario, played) => {
      assert.isAtMost(played.admitted.length, boundOf(scenario, played));
    }),
  );

  it.effect("is passed at most by both", () =>
    holds([...outages, loss], (scenario, played) => {
      assert.isAtMost(played.admitted.length, boundOf(scenario, played));
    }),
  );

  it.effect("is passed at most by a share for each node as well while the ledger fails", () =>
    holds([...outages, ledgerOutages], (scenario, played) => {
      const { limit, nodes } = scenario;
      const alone = new Set(played.admitted.filter((each) => each.alone).map((each) => each.node));
      const shares = alone.size * Math.ceil(limit / nodes);
      assert.isAtMost(played.admitted.length, boundOf(scenario, played) + shares);
    }),
  );
});
