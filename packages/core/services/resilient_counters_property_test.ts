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
  | { readonly do: "cut" | "join" | "replace" | "kill"; readonly node: number }
  | { readonly do: "shared down" | "shared up" | "ledger down" | "ledger up" | "lose" }
  | { readonly do: "pass"; readonly millis: number };

interface Scenario {
  readonly nodes: number;
  readonly limit: number;
  readonly steps: ReadonlyArray<Step>;
}

const anyNode = FastCheck.nat(3);
const admit = FastCheck.record({ do: FastCheck.constant("admit" as const), node: anyNode });
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

const replacing = FastCheck.record({ do: FastCheck.constant("replace" as const), node: anyNode });
const outages: ReadonlyArray<FastCheck.Arbitrary<Step>> = [
  FastCheck.record({ do: FastCheck.constantFrom("cut" as const, "join" as const), node: anyNode }),
  FastCheck.record({ do: FastCheck.constantFrom("shared down" as const, "shared up" as const) }),
  replacing,
];
const killing = FastCheck.record({ do: FastCheck.constant("kill" as const), node: anyNode });
const loss = FastCheck.record({ do: FastCheck.constant("lose" as const) });
const ledgerFaults = FastCheck.record({
  do: FastCheck.constantFrom("ledger down" as const, "ledger up" as const),
});

/** What was admitted, by whom, when, and by which counters. */
interface Admitted {
  readonly at: Millis;
  readonly node: number;
  readonly alone: boolean;
}

/** What a judge needs to know of a scenario. */
interface Played {
  readonly admitted: Array<Admitted>;
  readonly losses: Array<Millis>;
  readonly kills: Array<{ readonly at: Millis; readonly node: number }>;
  /** From when to when the ledger did not answer. */
  readonly ledgerOutages: Array<{ readonly from: Millis; to: Millis }>;
  requests: number;
}

/** Plays the steps, and gives what a judge needs to know of them. */
const play = Effect.fnUntraced(function* ({ nodes: count, limit, steps }: Scenario) {
  // In the morning of a day, so that midnight is far.
  yield* TestClock.setTime((Math.floor((yield* Clock.currentTimeMillis) / dayMs) + 1) * dayMs + dayMs / 4);
  const { state, openNode, lose } = yield* makeDeployment;
  /** Null where one was killed and cannot be started again yet. */
  const nodes: Array<Node | null> = [];
  for (let i = 0; i < count; i++) {
    nodes.push(yield* openNode);
    yield* TestClock.adjust(230);
  }
  yield* TestClock.adjust("3 seconds");
  const played: Played = { admitted: [], losses: [], kills: [], ledgerOutages: [], requests: 0 };

  const ask = Effect.fnUntraced(function* (index: number) {
    const target = nodes[index] ?? null;
    if (target === null) return;
    const [at, alone] = [yield* Clock.currentTimeMillis, state.isSharedDown || target.isCutOff];
    played.requests++;
    if (yield* isAdmitted(target, yield* dayRule(limit))) played.admitted.push({ at, node: index, alone });
  });
  // As in a rolling upgrade: the new one is there before the old one goes.
  const replace = Effect.fnUntraced(function* (index: number) {
    const old = nodes[index] ?? null;
    if (state.isLedgerDown || old === null) return;
    nodes[index] = yield* openNode;
    yield* old.stop;
  });
  /** Starts those again that were killed, once they can be. */
  const revive = Effect.fnUntraced(function* () {
    if (state.isLedgerDown) return;
    for (const [index, each] of nodes.entries()) nodes[index] = each ?? (yield* openNode);
  });
  const kill = Effect.fnUntraced(function* (index: number) {
    const old = nodes[index] ?? null;
    if (old === null) return;
    played.kills.push({ at: yield* Clock.currentTimeMillis, node: index });
    nodes[index] = null;
    yield* old.kill;
    yield* revive();
  });
  const turnLedger = Effect.fnUntraced(function* (isLedgerDown: boolean) {
    const [now, wasDown] = [yield* Clock.currentTimeMillis, state.isLedgerDown];
    state.isLedgerDown = isLedgerDown;
    if (isLedgerDown && !wasDown) played.ledgerOutages.push({ from: now, to: Number.POSITIVE_INFINITY });
    const last = played.ledgerOutages.at(-1);
    if (!isLedgerDown && last !== undefined) last.to = Math.min(last.to, now);
    yield* revive();
  });
  const change = (to: Partial<typeof state>) => Effect.sync(() => Object.assign(state, to));
  const link = (index: number, isCutOff: boolean) =>
    Effect.sync(() => Object.assign(nodes[index] ?? {}, { isCutOff }));
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
    kill,
    "shared down": () => change({ isSharedDown: true }),
    "shared up": () => change({ isSharedDown: false }),
    "ledger down": () => turnLedger(true),
    "ledger up": () => turnLedger(false),
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

/** How long it takes until every node knows what one of them knows, while the ledger answers. */
const lag = 2_000;

/** Since when the ledger may not know what happened, at a moment: for a lag, or since one before it stopped. */
const unknownSince = (moment: Millis, { ledgerOutages }: Played): Millis =>
  ledgerOutages.reduceRight(
    (since, { from, to }) => (from <= moment && to >= since ? Math.min(since, from - lag) : since),
    moment - lag,
  );

/** When every node has heard of what happened at a moment: after a lag, in which the ledger answers. */
const knownBy = (moment: Millis, { ledgerOutages }: Played): Millis =>
  ledgerOutages.reduce(
    (by, { from, to }) => (to >= moment && from <= by ? Math.max(by, to + lag) : by),
    moment + lag,
  );

/** When a loss counts from: what nobody has met before the ledger stops is not found out before it answers again. */
const metAt = (lost: Millis, { admitted, ledgerOutages }: Played): Millis => {
  const met = admitted.find(({ at, alone }) => at >= lost && !alone)?.at ?? lost;
  return ledgerOutages.some(({ from, to }) => from <= met && to >= met) ? met : lost;
};

/** The bound of docs/consistency.md, but for the shares that are admitted while the ledger does not answer. */
const boundOf = ({ limit, nodes }: Scenario, played: Played): number => {
  const { admitted, losses, kills } = played;
  const countOf = (isMeant: (each: Admitted) => boolean) => admitted.filter(isMeant).length;
  const aroundLosses = losses.map((lost) => {
    const [from, to] = [unknownSince(lost, played), knownBy(metAt(lost, played), played)];
    return countOf(({ at }) => at >= from && at <= to);
  });
  const byKilled = kills.map((killed) => {
    const from = unknownSince(killed.at, played);
    const isLost = losses.some((lost) => lost >= killed.at);
    return countOf(
      ({ at, node, alone }) => node === killed.node && (alone || isLost) && at >= from && at <= killed.at,
    );
  });
  const byNode = Array.from({ length: nodes }, (_, i) => admitted.filter((each) => each.node === i));
  const learning = admitted.some(({ alone }) => alone) ? byNode.map((each) => mostWithin(each, lag)) : [];
  return [limit, ...aroundLosses, ...byKilled, ...learning].reduce((total, next) => total + next, 0);
};

/** One share for each node that was ever by itself. */
const sharesOf = ({ limit, nodes }: Scenario, { admitted }: Played): number =>
  new Set(admitted.filter(({ alone }) => alone).map(({ node }) => node)).size * Math.ceil(limit / nodes);

const holds = (
  faults: ReadonlyArray<FastCheck.Arbitrary<Step>>,
  judge: (scenario: Scenario, played: Played) => void,
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
    holds([replacing], ({ limit }, played) => {
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
    holds([...outages, ledgerFaults], (scenario, played) => {
      assert.isAtMost(played.admitted.length, boundOf(scenario, played) + sharesOf(scenario, played));
    }),
  );

  it.effect("is passed at most by what was admitted around a loss, also while the ledger fails", () =>
    holds([loss, ledgerFaults], (scenario, played) => {
      assert.isAtMost(played.admitted.length, boundOf(scenario, played));
    }),
  );

  it.effect("is passed at most by what a killed node had not saved", () =>
    holds([...outages, killing], (scenario, played) => {
      assert.isAtMost(played.admitted.length, boundOf(scenario, played));
    }),
  );

  it.effect("is passed at most by all of that together", () =>
    holds([...outages, loss, ledgerFaults, killing], (scenario, played) => {
      assert.isAtMost(played.admitted.length, boundOf(scenario, played) + sharesOf(scenario, played));
    }),
  );
});
