import { kvSuite, storagePropertySuite, storageSuites } from "@accountlink/testing/conformance";
import { Effect } from "effect";
import * as test from "vitest";
import { type Kv, layer, memoryKv, minChanges } from "./mod.ts";

const isProof = process.env["ACCOUNTLINK_TEST_PROOF"] === "1";

kvSuite({ name: "In memory", engine: Effect.sync(memoryKv), test });

/** Lets other fibers run before each operation, so that transactions overtake each other as on a server. */
const yieldingKv = Effect.sync(() => {
  const { get, list, count, commit, ...limits } = memoryKv();
  const after = <A, E>(operation: Effect.Effect<A, E>) => Effect.andThen(Effect.yieldNow, operation);
  return {
    ...limits,
    get: (keys) => after(get(keys)),
    list: (range, options) => after(list(range, options)),
    count: (range) => after(count(range)),
    commit: (checks, changes) => after(commit(checks, changes)),
  } satisfies Kv;
});

/** An engine with the smallest commits, on a store that has two handles. */
const smallest = (kv: Kv): Kv => ({ ...kv, maxChanges: minChanges });
const shared = memoryKv();
const [engine, other] = [Effect.succeed(smallest(shared)), Effect.succeed(smallest(shared))];
kvSuite({ name: "With the smallest commits", engine, other, test });
storageSuites({
  name: "Stores on an engine with the smallest commits",
  layer: layer(Effect.map(yieldingKv, smallest)),
  model: layer(Effect.sync(memoryKv)),
  runs: isProof ? 10 : 3,
  maxChanges: minChanges,
  test,
});

const onYielding = { name: "Stores on an engine that yields", layer: layer(yieldingKv), test };

// The engine with the smallest commits yields too, so that the gate has each case once.
if (isProof) storageSuites(onYielding);

// Commands one after the other are the same with the model.
const it = (title: string, body: () => Promise<void>) =>
  title.startsWith("concurrent") ? test.it(title, body) : undefined;
storagePropertySuite({
  ...onYielding,
  model: layer(Effect.sync(memoryKv)),
  runs: 10,
  test: { ...test, it: Object.assign(it, { skip: test.it.skip }) },
});
