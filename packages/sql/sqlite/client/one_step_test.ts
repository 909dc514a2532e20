import { expect } from "@accountlink/test-servers/effect";
import { Deferred, Effect } from "effect";
import { type OneStep, OneStepTransactions } from "../../statements/one_step.ts";
import { add, names, settle, test } from "../test_database.ts";

const inStep = (name: string, isWanted = true) =>
  Effect.flatMap(OneStepTransactions, (oneStep) =>
    (oneStep as OneStep)((statements) => {
      statements.run("INSERT INTO counters VALUES (?, 1)", [name]);
      return isWanted ? name : null;
    }),
  );

test("a transaction of one step is answered after its commit", function* (fixture) {
  expect(yield* inStep("a")).toBe("a");
  expect(names(fixture)).toEqual(["a"]);
});

test("steps that come together share a commit, and one that is refused or fails is undone alone", function* (fixture) {
  const all = ["a", "b", "a", "c"].map((name) => Effect.exit(inStep(name, name !== "b")));
  const exits = yield* Effect.all(all, { concurrency: "unbounded" });
  expect(exits.map(({ _tag }) => _tag)).toEqual(["Success", "Success", "Failure", "Success"]);
  expect(names(fixture)).toEqual(["a", "c"]);
});

test("a step changes nothing while another transaction has the turn", function* (fixture) {
  const { sql } = fixture;
  const [isOpen, isDone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()];
  const other = add(sql, "other").pipe(
    Effect.andThen(Deferred.succeed(isOpen, undefined)),
    Effect.andThen(Deferred.await(isDone)),
    sql.withTransaction,
  );
  yield* Effect.forkChild(other, { startImmediately: true });
  yield* Deferred.await(isOpen);
  expect(yield* inStep("a")).toBe(null);
  yield* Deferred.succeed(isDone, undefined);
  yield* settle;
  expect(yield* inStep("b")).toBe("b");
  expect(names(fixture)).toEqual(["b", "other"]);
});
