import { expect, it } from "vitest";
import config from "../vitest.config.ts";

it("one run of vitest can have a test file in several projects, as CONTRIBUTING.md says", () => {
  // Vitest refuses projects of one group with different numbers of workers.
  const workers = new Map<number, Set<number>>();
  for (const project of config.test?.projects ?? []) {
    if (typeof project !== "object" || !("test" in project)) throw new Error("Cannot read a project");
    const { maxWorkers = 6, fileParallelism = true, sequence } = project.test ?? {};
    const group = sequence?.groupOrder ?? 0;
    workers.set(group, (workers.get(group) ?? new Set()).add(fileParallelism ? Number(maxWorkers) : 1));
  }
  expect([...workers.values()].map(({ size }) => size)).toEqual(Array.from(workers, () => 1));
});
