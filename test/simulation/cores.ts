/**
 * Runs schedules in one process for each core. A process that has finished its share of schedules gets the next share.
 */
import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import { addCounts, type Found } from "./search.ts";
import type { Failure } from "./shrink.ts";

export interface Share {
  readonly from: number;
  readonly schedules: number;
}

/** How many schedules a process gets at a time. It collects garbage after each share. */
const shareSize = 96;

export const searchOnAllCores = async (
  from: number,
  schedules: number,
): Promise<Found & { readonly failure: (Failure & { readonly seed: number }) | null }> => {
  const counts = new Map<string, number>();
  const sum = { runs: 0, steps: 0, fewestSteps: Infinity };
  const failed: Array<number> = [];
  let next = from;
  const workers = Array.from({ length: Math.min(availableParallelism(), Math.ceil(schedules / shareSize)) });
  const work = async () => {
    const worker = fork(join(import.meta.dirname, "search_worker.ts"), { serialization: "advanced" });
    while (next < from + schedules && failed.length === 0) {
      const share = { from: next, schedules: Math.min(shareSize, from + schedules - next) };
      next += share.schedules;
      const found = await searchIn(worker, share);
      addCounts(counts, found.counts);
      sum.runs += found.runs;
      sum.steps += found.steps;
      sum.fewestSteps = Math.min(sum.fewestSteps, found.fewestSteps);
      if (found.failed !== null) failed.push(found.failed);
    }
    worker.disconnect();
  };
  await Promise.all(workers.map(work));
  if (failed.length === 0) return { ...sum, counts, failed: null, failure: null };
  const seed = Math.min(...failed);
  const plan = planOf(seed);
  return { ...sum, counts, failed: seed, failure: { seed, plan, run: runPlan(plan) } };
};

const searchIn = (worker: ChildProcess, share: Share): Promise<Found> =>
  new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`Cannot run schedules from ${share.from} on: their process ended`));
    worker.once("exit", onExit);
    worker.once("message", (found) => {
      worker.off("exit", onExit);
      resolve(found as Found);
    });
    worker.send(share);
  });
