/** Changes stored data of earlier releases, on one node of all, while requests are served. */
import { Clock, Effect, FiberHandle, Layer, Option } from "effect";
import { makeOldestNode } from "../roles/oldest_node.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
import { UpgradeStore } from "./upgrade_store.ts";
import { makeVouchedLinks } from "./vouched_links.ts";
import { makeVouchedPlans } from "./vouched_plans.ts";

/** The second round mends what nodes of the release before stored during the first. */
const rounds = 2;

/** The time between the rounds, by which no node of the release before is left, in milliseconds. */
const roundPause = dayMs;

/** How often the nodes look which of them works, in milliseconds. */
const lookEvery = 10_000;

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* UpgradeStore;
    const upgrades = Object.entries({
      vouched_links: yield* makeVouchedLinks,
      vouched_plans: yield* makeVouchedPlans,
    });
    const running = yield* FiberHandle.make();

    /** Ends the next round of an upgrade, and returns when the one after is due; null after the last. */
    const runRound = Effect.fnUntraced(function* (name: string, work: (typeof upgrades)[number][1]) {
      const now = yield* Clock.currentTimeMillis;
      const done = Option.getOrElse(yield* store.find(name), () => ({ rounds: 0, at: -roundPause }));
      if (done.rounds >= rounds) return null;
      if (now < done.at + roundPause) return done.at + roundPause;
      yield* work;
      yield* store.put({ name, rounds: done.rounds + 1, at: now });
      return done.rounds + 1 < rounds ? now + roundPause : null;
    });

    let dueAt: number | null = 0;
    const run = Effect.gen(function* () {
      const next: Array<number> = [];
      for (const [name, work] of upgrades) {
        const due = yield* runRound(name, work);
        if (due !== null) next.push(due);
      }
      dueAt = next.length === 0 ? null : Math.min(...next);
    });
    const warning = yield* warnOnce("Cannot change the data of an earlier release", run);

    yield* makeOldestNode("upgrades:", {
      problem: "Cannot choose the node that changes the data of an earlier release",
      every: lookEvery,
      isInner: true,
      work: Effect.flatMap(Clock.currentTimeMillis, (now) =>
        dueAt === null || now < dueAt
          ? Effect.void
          : FiberHandle.run(running, warning, { onlyIfMissing: true }),
      ),
      stop: FiberHandle.clear(running),
    });
  }),
);
