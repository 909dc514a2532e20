import { expect, it } from "vitest";
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import { search } from "./search.ts";
import { shrink } from "./shrink.ts";
import { storyOf } from "./story.ts";

const schedules = 200;

const expectNoneToFail = (from: number): void => {
  const { failed } = search(from, schedules);
  if (failed === null) return;
  const plan = planOf(failed);
  expect.fail(storyOf(failed, shrink({ plan, run: runPlan(plan) })));
};

it("simulations with the same seed have the same events in the same order", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const one = runPlan(planOf(seed), true);
    runPlan(planOf(seed + 1_000));
    const other = runPlan(planOf(seed), true);
    expect(other.story).toEqual(one.story);
    expect(other.fingerprint).toBe(one.fingerprint);
  }
});

it("the service keeps every guarantee in simulations with fixed seeds", () => {
  expectNoneToFail(1);
});

it("the service keeps every guarantee in simulations with random seeds", () => {
  expectNoneToFail(Math.floor(Math.random() * 2 ** 40));
});
