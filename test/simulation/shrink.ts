/** Shortens a failing schedule: removes clients, faults, steps and nodes that the failure does not need. */
import type { Plan } from "./plan.ts";
import { type Run, runPlan } from "./run.ts";

export interface Failure {
  readonly plan: Plan;
  readonly run: Run;
}

/** How many seeds to try with each smaller plan, since each seed gives another order of events. */
const orders = 12;

const without = <A>(list: ReadonlyArray<A>, index: number): ReadonlyArray<A> => list.toSpliced(index, 1);

const smaller = (plan: Plan): ReadonlyArray<Plan> => [
  ...plan.clients.map((_, index) => ({ ...plan, clients: without(plan.clients, index) })),
  ...plan.faults.map((_, index) => ({ ...plan, faults: without(plan.faults, index) })),
  ...(plan.nodes > 1 && plan.faults.every(({ node }) => node < plan.nodes - 1)
    ? [{ ...plan, nodes: plan.nodes - 1 }]
    : []),
  ...plan.clients.flatMap((client, index) =>
    client.steps.map((_, step) => ({
      ...plan,
      clients: plan.clients.with(index, { ...client, steps: without(client.steps, step) }),
    })),
  ),
];

/** Runs the plan with several seeds. Returns the first run that breaks the promise, or null. */
const failing = (plan: Plan, promise: string): Failure | null => {
  for (let order = 0; order < orders; order++) {
    const tried = { ...plan, seed: plan.seed + order };
    const run = runPlan(tried);
    if (run.broken.some((each) => each.promise === promise)) return { plan: tried, run };
  }
  return null;
};

/**
 * Removes parts of a failed plan as long as the smaller plan still breaks the same promise of the service. Returns the
 * smallest failed plan with its run.
 */
export const shrink = (failure: Failure): Failure => {
  const promise = failure.run.broken[0]?.promise ?? "";
  let best = failure;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const plan of smaller(best.plan)) {
      const found = failing(plan, promise);
      if (found === null) continue;
      best = found;
      isSmaller = true;
      break;
    }
  }
  return { plan: best.plan, run: runPlan(best.plan, true) };
};
