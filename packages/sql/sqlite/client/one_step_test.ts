import { BusyTime, WorkingTimes } from "@accountlink/core/turns";
import { expect } from "@accountlink/test-servers/effect";
import { Clock, Deferred, Effect, Fiber } from "effect";
import type { SqlClient } from "effect/sql";
import { type OneStep, OneStepTransactions } from "../../statements/one_step.ts";
import { add, names, settle, test } from "../test_database.ts";

const inStep = (name: string, isWanted = true) =>
  Effect.flatMap(OneStepTransactions, (oneStep) =>
    (oneStep as OneStep)((statements) => {
      statements.run("INSERT INTO counters VALUES (?, 1)", [name]);
      return isWanted ? name : null;
    }),
  );

/** Opens a transaction that has the turn until `isDone`. */
const openOther = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, isDone: Deferred.Deferred<void>) {
  const isOpen = yield* Deferred.make<void>();
  const other = add(sql, "other").pipe(
    Effect.andThen(Deferred.succeed(isOpen, undefined)),
    Effect.andThen(Deferred.await(isDone)),
    sql.withTransaction,
  );
  yield* Effect.forkChild(other, { startImmediately: true });
  yield* Deferred.await(isOpen);
});

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
  const isDone = yield* Deferred.make<void>();
  yield* openOther(fixture.sql, isDone);
  expect(yield* inStep("a")).toBe(null);
  yield* Deferred.succeed(isDone, undefined);
  yield* settle;
  expect(yield* inStep("b")).toBe("b");
  expect(names(fixture)).toEqual(["b", "other"]);
});

test.each(["its turn", "its commit", "the commit of its step"])(
  "what others do while a write waits for %s does not count as work of its account",
  function* ({ sql }, awaited) {
    const { accounts } = WorkingTimes.defaultValue();
    const isDone = yield* Deferred.make<void>();
    if (awaited === "its turn") yield* openOther(sql, isDone);
    let now = 0;
    const timed: Clock.Clock = Object.assign(Object.create(yield* Clock.Clock), {
      currentTimeMillisUnsafe: () => now,
      monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    });
    const write: Effect.Effect<unknown, unknown> =
      awaited === "the commit of its step" ? inStep("a") : sql.withTransaction(add(sql, "a"));
    const paced = Effect.gen(function* () {
      accounts.note("bob", now);
      const writing = yield* Effect.forkChild(accounts.count("ada", write), { startImmediately: true });
      now += 500;
      yield* Deferred.succeed(isDone, undefined);
      yield* Fiber.join(writing);
      return yield* Effect.forkChild(accounts.rest("ada"), { startImmediately: true });
    });
    const resting = yield* paced.pipe(
      Effect.provideService(Clock.Clock, timed),
      Effect.provideService(BusyTime, () => now),
    );
    expect(resting.pollUnsafe()).toBeDefined();
  },
);
