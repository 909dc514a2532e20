import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import { search } from "./search.ts";
import { shrink } from "./shrink.ts";
import { storyOf } from "./story.ts";

const schedules = isProof ? 400 : 20;

it("simulations with the same seed have the same events in the same order", () => {
  for (const seed of [1, 2]) {
    const one = runPlan(planOf(seed), true);
    runPlan(planOf(seed + 1_000));
    const other = runPlan(planOf(seed), true);
    expect(other.story).toEqual(one.story);
    expect(other.fingerprint).toBe(one.fingerprint);
  }
});

it("the service keeps every guarantee in simulations with random seeds", () => {
  const { failed } = search(Math.floor(Math.random() * 2 ** 40), schedules);
  if (failed === null) return;
  const plan = planOf(failed);
  expect.fail(storyOf(failed, shrink({ plan, run: runPlan(plan) })));
});
