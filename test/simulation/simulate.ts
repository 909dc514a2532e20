/**
 * Runs one schedule and prints its events, or runs many until one breaks a promise.
 *
 *     npm run simulate -- --seed=7
 *     npm run simulate -- --from=1 --schedules=10000
 */
import { parseArgs } from "node:util";
import { searchOnAllCores } from "./cores.ts";
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import { shrink } from "./shrink.ts";
import { storyOf } from "./story.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    schedules: { type: "string", default: "1000" },
  },
});

const showOne = (seed: number): void => {
  const plan = planOf(seed);
  const run = runPlan(plan, true);
  const failure = run.broken.length === 0 ? { plan, run } : shrink({ plan, run });
  console.log(run.broken.length === 0 ? run.story.join("\n") : storyOf(seed, failure));
  if (run.broken.length > 0) process.exitCode = 1;
};

const showMany = async (from: number, schedules: number): Promise<void> => {
  const started = performance.now();
  const { failure, counts, steps, fewestSteps, runs } = await searchOnAllCores(from, schedules);
  const seconds = (performance.now() - started) / 1_000;
  console.log(
    `${runs} schedules, ${(runs / seconds).toFixed(0)} a second, ${Math.round(steps / runs)} steps each, ${fewestSteps} at least`,
  );
  for (const [what, count] of [...counts].toSorted(([one], [other]) => one.localeCompare(other)))
    console.log(`${String(count).padStart(10)}  ${what}`);
  if (failure === null) return;
  console.log(`Seed ${failure.seed} breaks a promise`);
  console.log(storyOf(failure.seed, shrink(failure)));
  process.exitCode = 1;
};

if (values.seed === undefined) await showMany(Number(values.from), Number(values.schedules));
else showOne(Number(values.seed));
