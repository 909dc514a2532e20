import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option, Struct } from "effect";
import { TestClock } from "effect/testing";
import { type Rest, StorageUse } from "../storage_use.ts";
import { makeOldestNode } from "./oldest_node.ts";
import { RolePlanStore } from "./role_plan_store.ts";

test("a node stops its work when the storage begins to rest, except work that reaches nobody", function* () {
  let rest: Rest | null = null;
  let held = "";
  const store = Layer.mock(RolePlanStore)({
    hold: ({ node }) => Effect.sync(() => ((held = node), [])),
    firstNode: () => Effect.sync(() => Option.some(held)),
  });
  const log: Array<string> = [];
  const nodeOf = (name: string, isInner: boolean) =>
    makeOldestNode(name, {
      problem: "Cannot choose a node",
      work: Effect.sync(() => log.push(`${name} works`)),
      stop: Effect.sync(() => void log.push(`${name} stops`)),
      isInner,
    });
  yield* Effect.gen(function* () {
    yield* nodeOf("outer", false);
    yield* nodeOf("inner", true);
    yield* TestClock.adjust("1 second");
    expect(new Set(log)).toEqual(new Set(["outer works", "inner works"]));
    rest = { since: 0, reason: "restored" };
    log.length = 0;
    yield* TestClock.adjust("1 second");
    expect(new Set(log)).toEqual(new Set(["outer stops", "inner works"]));
  }).pipe(
    Effect.updateService(StorageUse, Struct.assign({ resting: () => rest })),
    Effect.provide(store),
    Effect.scoped,
  );
});
