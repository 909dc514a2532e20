/** Runs many schedules, one after another. */
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";

type Counts = ReadonlyMap<string, number>;

export interface Found {
  readonly runs: number;
  readonly steps: number;
  readonly fewestSteps: number;
  /** The number of requests for each outcome, and of faults for each kind. */
  readonly counts: Counts;
  /** The seed of the first schedule that broke a promise. */
  readonly failed: number | null;
}

export const addCounts = (sum: Map<string, number>, counts: Counts): void => {
  for (const [what, count] of counts) sum.set(what, (sum.get(what) ?? 0) + count);
};

export const search = (from: number, schedules: number): Found => {
  const counts = new Map<string, number>();
  let steps = 0;
  let fewestSteps = Infinity;
  for (let runs = 1; runs <= schedules; runs++) {
    const seed = from + runs - 1;
    const run = runPlan(planOf(seed));
    steps += run.steps;
    fewestSteps = Math.min(fewestSteps, run.steps);
    addCounts(counts, run.counts);
    if (run.broken.length > 0) return { runs, steps, fewestSteps, counts, failed: seed };
  }
  return { runs: schedules, steps, fewestSteps, counts, failed: null };
};
