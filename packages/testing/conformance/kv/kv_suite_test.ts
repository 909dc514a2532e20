/** Faulty engines, and the cases that name their faults. */
import { type Kv, memoryKv } from "@accountlink/kv";
import { Effect, Formatter, Layer } from "effect";
import { expect, it } from "vitest";
import { runSuites } from "../run_suites.ts";
import { suite } from "../suite.ts";
import { Engine } from "./engine.ts";
import { randomCases } from "./random_cases.ts";
import { rangeCases } from "./range_cases.ts";

const failuresOf = async (fault: (right: Kv) => Partial<Kv>) => {
  const layer = Layer.sync(Engine, () => {
    const right = memoryKv();
    return { ...right, ...fault(right) };
  });
  const failures = new Map<string, string>();
  const results = runSuites((test) =>
    suite("Kv", { name: "Faulty", layer, test }, { ...rangeCases, ...randomCases }),
  );
  for await (const { title, failure } of results)
    if (failure !== null) failures.set(title, Formatter.format(failure));
  return failures;
};

const random = "commits and reads in any order agree with a model";

const versionOf = (value: string | undefined) => `of ${value}`;

it.each<[fault: string, title: string, engine: (right: Kv) => Partial<Kv>]>([
  [
    "leaves out the start of a range",
    "a range begins with the key that is its start",
    ({ list }) => ({ list: (range, options) => list({ ...range, start: `${range.start}\0` }, options) }),
  ],
  [
    "counts the end of a range",
    "a count has the keys of its range alone",
    ({ count }) => ({ count: ({ start, end }) => count({ start, end: `${end}\0` }) }),
  ],
  [
    "makes versions of values, so that they return",
    "a version of a deleted key never returns",
    ({ get, commit }) => ({
      get: (keys) =>
        Effect.map(get(keys), (found) =>
          found.map((entry) => entry && { ...entry, version: versionOf(entry.value) }),
        ),
      commit: (checks, changes) =>
        Effect.flatMap(get(checks.map(({ key }) => key)), (found) =>
          found.every((entry, index) => (entry && versionOf(entry.value)) === checks[index]?.version)
            ? commit([], changes)
            : Effect.succeed(false),
        ),
    }),
  ],
])("an engine that %s fails the case “%s”, and the shortest random one", async (_, title, engine) => {
  const failures = await failuresOf(engine);
  expect([...failures.keys()]).toContain(title);
  const steps = failures.get(random)?.match(/"is":"(?:commit|read)"/g) ?? [];
  expect(steps.length).toBeGreaterThan(0);
  expect(steps.length).toBeLessThanOrEqual(4);
});
