/**
 * Many schedules, one after the other.
 */
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import type { Failure } from "./shrink.ts";

export interface Search {
  readonly runs: number;
  readonly steps: number;
  /** Requests by how they ended, and faults by their kind. */
  readonly counts: ReadonlyMap<string, number>;
  /** The first failure, if there is one. */
  readonly failure: (Failure & { readonly seed: number }) | null;
}

/** Runs so many schedules, up to the first that breaks a promise. */
export const search = (from: number, schedules: number): Search => {
  const counts = new Map<string, number>();
  let steps = 0;
  for (let runs = 1; runs <= schedules; runs++) {
    const seed = from + runs - 1;
    const plan = planOf(seed);
    const run = runPlan(plan);
    steps += run.steps;
    for (const [what, count] of run.counts) counts.set(what, (counts.get(what) ?? 0) + count);
    if (run.broken.length > 0) return { runs, steps, counts, failure: { seed, plan, run } };
  }
  return { runs: schedules, steps, counts, failure: null };
};
