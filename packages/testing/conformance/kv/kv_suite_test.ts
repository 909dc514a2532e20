/** Faulty engines, and the cases that name their faults. */
import { type Kv, memoryKv } from "@accountlink/kv";
import { Array, Effect, Formatter, Layer, Semaphore } from "effect";
import { expect, it } from "vitest";
import { runSuites } from "../run_suites.ts";
import { suite } from "../suite.ts";
import { Engine } from "./engine.ts";
import { handles } from "./kv_suite.ts";
import { raceCases } from "./race_cases.ts";
import { randomCases } from "./random_cases.ts";
import { rangeCases } from "./range_cases.ts";

const failuresOf = async (fault: (right: Kv) => Partial<Kv>) => {
  const layer = Layer.sync(Engine, () => {
    const right = memoryKv();
    return { ...right, ...fault(right) };
  });
  const failures = new Map<string, string>();
  const results = runSuites((test) =>
    suite("Kv", { name: "Faulty", layer: handles(layer), test }, { ...rangeCases, ...randomCases }),
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

const racesLostBy = async (engine: Kv, other: Kv) => {
  const layer = handles(Layer.succeed(Engine, engine), Effect.succeed(other));
  const failed: Array<string> = [];
  for await (const { title, failure } of runSuites((test) =>
    suite("Kv", { name: "Faulty", layer, test }, raceCases),
  )) {
    if (failure !== null) failed.push(title);
  }
  return failed;
};

it("an engine that commits or reads more than 100 keys in parts fails", async () => {
  const right = memoryKv();
  const inParts: Kv = {
    ...right,
    commit: (checks, changes) =>
      Effect.gen(function* () {
        if (!(yield* right.commit(checks, changes.slice(0, 100)))) return false;
        for (let from = 100; from < changes.length; from += 100) {
          yield* Effect.yieldNow;
          yield* right.commit([], changes.slice(from, from + 100));
        }
        return true;
      }),
  };
  const readsInParts: Kv = {
    ...right,
    get: (keys) =>
      Effect.map(
        Effect.forEach(Array.chunksOf(keys, 100), (part) =>
          Effect.tap(right.get(part), () => Effect.yieldNow),
        ),
        Array.flatten,
      ),
  };
  for (const engine of [inParts, readsInParts])
    expect(await racesLostBy(engine, engine)).toContain("get reads its keys as of one moment");
});

it("an engine whose lock only its process has fails with a second handle alone", async () => {
  const store = memoryKv();
  /** A handle that compares and writes in two steps, and lets one commit of its own after the other. */
  const handle = (): Kv => {
    const lock = Semaphore.makeUnsafe(1);
    return {
      ...store,
      commit: (checks, changes) =>
        lock.withPermits(1)(
          Effect.gen(function* () {
            const found = yield* store.get(checks.map(({ key }) => key));
            if (checks.some(({ version }, index) => (found[index]?.version ?? null) !== version))
              return false;
            yield* Effect.yieldNow;
            return yield* store.commit([], changes);
          }),
        ),
    };
  };
  const alone = handle();
  expect(await racesLostBy(alone, alone)).toEqual([]);
  expect(await racesLostBy(handle(), handle())).toContain("no increment of racing writers is lost");
});
