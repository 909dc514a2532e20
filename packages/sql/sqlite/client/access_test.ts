import { DatabaseSync } from "node:sqlite";
import { TurnAccount } from "@accountlink/core/turns";
import { expect, vi } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Exit, Fiber, Scheduler } from "effect";
import type { SqlClient } from "effect/sql";
import { YieldsOnce } from "../../test_scheduler.ts";
import {
  add,
  bulk,
  names,
  type RunTransaction,
  settle,
  single,
  test,
  transactions,
} from "../test_database.ts";

/** Starts a transaction that inserts `name` and then waits for `proceed`. */
const openTransaction = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  name: string,
  run: RunTransaction = single,
) {
  const opened = yield* Deferred.make<void>();
  const proceed = yield* Deferred.make<void, "refused">();
  const work = add(sql, name).pipe(
    Effect.andThen(Deferred.succeed(opened, undefined)),
    Effect.andThen(Deferred.await(proceed)),
  );
  const fiber = yield* Effect.forkChild(run(sql, work));
  yield* Deferred.await(opened);
  return { fiber, proceed };
});

test.each(transactions)(
  "a %s is visible to others once committed, and never if it fails",
  function* (fixture, [_, run]) {
    const { sql } = fixture;
    const seen = Effect.sync(() => expect(names(fixture)).toEqual([]));
    yield* run(sql, Effect.andThen(add(sql, "a"), seen));
    expect(names(fixture)).toEqual(["a"]);
    const refused = run(sql, Effect.andThen(add(sql, "b"), Effect.fail("refused")));
    expect(yield* Effect.flip(refused)).toBe("refused");
    expect(names(fixture)).toEqual(["a"]);
  },
);

test("accounts take turns at the writer, for transactions and for statements", function* (fixture) {
  const { sql, other } = fixture;
  const { fiber, proceed } = yield* openTransaction(sql, "first");
  const inTurnOf = (account: string, write: Effect.Effect<unknown, unknown>) =>
    write.pipe(Effect.provideService(TurnAccount, account), Effect.forkChild({ startImmediately: true }));
  const writing = [
    yield* inTurnOf("ada", sql.withTransaction(add(sql, "ada 1"))),
    yield* inTurnOf("ada", add(sql, "ada 2")),
    yield* inTurnOf("ada", add(sql, "ada 3")),
    yield* inTurnOf("bob", add(sql, "bob 1")),
    yield* inTurnOf("bob", sql.withTransaction(add(sql, "bob 2"))),
  ];
  yield* Deferred.succeed(proceed, undefined);
  yield* Fiber.joinAll([fiber, ...writing]);
  const order = other.prepare("SELECT name FROM counters ORDER BY rowid").all();
  expect(order.map(({ name }) => name)).toEqual(["first", "ada 1", "bob 1", "ada 2", "bob 2", "ada 3"]);
});

test("transactions take the write lock when they begin", function* ({ sql, other }) {
  yield* sql.withTransaction(
    Effect.sync(() => expect(() => other.exec("BEGIN IMMEDIATE")).toThrow("database is locked")),
  );
});

test.each(transactions)(
  "a %s rolls back when its COMMIT fails, and does not affect the next write",
  function* (fixture, [_, run]) {
    const { sql } = fixture;
    const orphan = sql`INSERT INTO steps VALUES ('nobody')`;
    const error = yield* Effect.flip(run(sql, Effect.andThen(add(sql, "undone"), orphan)));
    expect(error.reason._tag).toBe("ConstraintError");
    yield* add(sql, "kept");
    expect(names(fixture)).toEqual(["kept"]);
  },
);

test("transactions close the connection when they cannot roll back", function* (fixture) {
  const { sql } = fixture;
  const exec = vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(() => {
    throw new Error("out of memory");
  });
  yield* Effect.addFinalizer(() => Effect.sync(() => exec.mockRestore()));
  const orphan = sql`INSERT INTO steps VALUES ('nobody')`;
  yield* Effect.flip(sql.withTransaction(Effect.andThen(add(sql, "undone"), orphan)));
  expect((yield* Effect.flip(add(sql, "lost"))).reason._tag).toBe("ConnectionError");
  expect(names(fixture)).toEqual([]);
});

test("transactions nest, and a failed inner one is rolled back alone", function* (fixture) {
  const { sql } = fixture;
  const inner = sql.withTransaction(Effect.andThen(add(sql, "inner"), Effect.fail("refused")));
  yield* sql.withTransaction(
    add(sql, "before").pipe(
      Effect.andThen(Effect.flip(inner)),
      Effect.andThen(sql.withTransaction(add(sql, "nested"))),
      Effect.andThen(add(sql, "after")),
    ),
  );
  expect(names(fixture)).toEqual(["after", "before", "nested"]);
});

test.each(transactions)("a %s rolls back when interrupted", function* (fixture, [_, run]) {
  const { sql } = fixture;
  const { fiber } = yield* openTransaction(sql, "undone", run);
  yield* Fiber.interrupt(fiber);
  yield* add(sql, "kept");
  expect(names(fixture)).toEqual(["kept"]);
});

test.each(transactions)(
  "a %s that SQLite has already rolled back runs no statement, and does not commit",
  function* (fixture, [_, run]) {
    const { sql } = fixture;
    yield* add(sql, "a");
    const undone = Effect.andThen(
      add(sql, "undone"),
      Effect.ignore(sql`INSERT OR ROLLBACK INTO counters VALUES ('a', 1)`),
    );
    const error = yield* Effect.flip(run(sql, Effect.andThen(undone, add(sql, "alone"))));
    expect(error.message).toBe(
      "Cannot go on with the transaction: a failed statement made the database roll it back",
    );
    expect(error.isRetryable).toBe(true);
    expect(Exit.isFailure(yield* Effect.exit(run(sql, undone)))).toBe(true);
    yield* run(sql, add(sql, "next"));
    expect(names(fixture)).toEqual(["a", "next"]);
  },
);

test("a fiber that outlives its transaction can no longer run statements in it", function* (fixture) {
  const { sql } = fixture;
  const ended = yield* Deferred.make<void>();
  const late = yield* sql.withTransaction(
    Effect.forkScoped(Effect.andThen(Deferred.await(ended), add(sql, "late"))),
  );
  const { fiber, proceed } = yield* openTransaction(sql, "another");
  yield* Deferred.succeed(ended, undefined);
  const exit = yield* Fiber.await(late);
  expect(Exit.hasDies(exit)).toBe(true);
  yield* Deferred.succeed(proceed, undefined);
  yield* Fiber.join(fiber);
  expect(names(fixture)).toEqual(["another"]);
});

test("a transaction left open on a reserved connection rolls back when its scope closes", function* (fixture) {
  const { sql } = fixture;
  yield* Effect.scoped(
    Effect.gen(function* () {
      const reserved = yield* sql.reserve;
      yield* reserved.executeUnprepared("BEGIN", [], undefined);
      yield* reserved.executeRaw("INSERT INTO counters VALUES ('undone', 1)", []);
    }),
  );
  yield* add(sql, "kept");
  expect(names(fixture)).toEqual(["kept"]);
});

test.each([
  ["committed", Effect.void, ["a"]],
  ["rolled back", Effect.fail("refused" as const), []],
] as const)(
  "fibers outside of a transaction see nothing of it until it is %s",
  function* ({ sql }, [_, end, seen]) {
    const { fiber, proceed } = yield* openTransaction(sql, "a");
    const reads = [sql`SELECT name FROM counters`.values, sql.unsafe("SELECT name FROM counters").values];
    for (const read of reads) expect(yield* read).toEqual([]);
    yield* Deferred.completeWith(proceed, end);
    yield* Fiber.await(fiber);
    for (const read of reads) expect((yield* read).flat()).toEqual(seen);
  },
);

test("fibers do not write inside the transaction of another fiber", function* (fixture) {
  const { sql } = fixture;
  const { fiber, proceed } = yield* openTransaction(sql, "undone");
  const writer = yield* Effect.forkChild(add(sql, "kept"));
  yield* settle;
  yield* Deferred.fail(proceed, "refused");
  yield* Fiber.await(fiber);
  yield* Fiber.join(writer);
  expect(names(fixture)).toEqual(["kept"]);
});

test("a statement that loses its turn at any operation runs once the transaction has ended", function* (fixture) {
  const { sql } = fixture;
  for (let operation = 0; operation < 12; operation++) {
    const { fiber, proceed } = yield* openTransaction(sql, `first ${operation}`);
    const late = Effect.provideService(
      add(sql, `second ${operation}`),
      Scheduler.Scheduler,
      new YieldsOnce(operation),
    );
    const statement = yield* Effect.forkChild(late, { startImmediately: true });
    yield* Deferred.succeed(proceed, undefined);
    yield* Fiber.joinAll([fiber, statement]);
  }
  expect(names(fixture)).toHaveLength(24);
});

test("fibers that wait for a transaction to end can be interrupted", function* (fixture) {
  const { sql } = fixture;
  const { fiber, proceed } = yield* openTransaction(sql, "first");
  const statement = yield* Effect.forkChild(add(sql, "never"));
  const transaction = yield* Effect.forkChild(sql.withTransaction(add(sql, "neither")));
  yield* settle;
  yield* Fiber.interruptAll([statement, transaction]);
  yield* Deferred.succeed(proceed, undefined);
  yield* Fiber.join(fiber);
  yield* sql.withTransaction(add(sql, "last"));
  expect(names(fixture)).toEqual(["first", "last"]);
});

const atOnce = { concurrency: "unbounded" } as const;

test.each(["transactions", "statements"])(
  "%s of one turn of the event loop share a commit",
  function* (fixture, kind) {
    const { sql } = fixture;
    const write = (name: string) =>
      kind === "statements" ? add(sql, name) : sql.withTransaction(add(sql, name));
    // A machine that is busy for 20 ms ends the group of a round.
    for (let round = 0; round < 50; round++) {
      const adding = [1, 2, 3].map((number) =>
        Effect.map(write(`${round} ${number}`), () => names(fixture).length),
      );
      const seen = yield* Effect.all(adding, atOnce);
      if (seen.every((count) => count === 3 * (round + 1))) return;
    }
    throw new Error(`No ${kind} shared a commit`);
  },
);

test("a statement that fails leaves the others of its commit", function* (fixture) {
  const { sql } = fixture;
  const exits = yield* Effect.all(
    ["a", "a", "b"].map((name) => Effect.exit(add(sql, name))),
    atOnce,
  );
  expect(exits.map(Exit.isSuccess)).toEqual([true, false, true]);
  expect(names(fixture)).toEqual(["a", "b"]);
});

test("a transaction that fails is rolled back alone", function* (fixture) {
  const { sql } = fixture;
  const refuse = Effect.andThen(add(sql, "undone"), Effect.fail("refused"));
  for (const works of [[add(sql, "a"), refuse, add(sql, "b")], [refuse, add(sql, "c")], [refuse]]) {
    const exits = yield* Effect.all(
      works.map((work) => Effect.exit(sql.withTransaction(work))),
      atOnce,
    );
    expect(exits.map(Exit.isSuccess)).toEqual(works.map((work) => work !== refuse));
  }
  expect(names(fixture)).toEqual(["a", "b", "c"]);
});

test("all transactions of a group fail if SQLite rolls it back", function* (fixture) {
  const { sql } = fixture;
  yield* add(sql, "a");
  const culprit = sql`INSERT OR ROLLBACK INTO counters VALUES ('a', 1)`;
  const works = [add(sql, "undone"), culprit, add(sql, "next")];
  const exits = yield* Effect.all(
    works.map((work) => Effect.exit(sql.withTransaction(work))),
    atOnce,
  );
  expect(exits.map(Exit.isSuccess)).toEqual([false, false, true]);
  expect(names(fixture)).toEqual(["a", "next"]);
});

test("a transaction commits although one that waits for its turn is interrupted", function* (fixture) {
  const { sql } = fixture;
  const { fiber, proceed } = yield* openTransaction(sql, "first");
  const next = yield* Effect.forkChild(sql.withTransaction(add(sql, "next")));
  yield* settle;
  yield* Fiber.interrupt(next);
  yield* Deferred.succeed(proceed, undefined);
  yield* Fiber.join(fiber);
  expect(names(fixture)).toEqual(["first"]);
});

test("a bulk transaction ends the group before it, and a statement joins one", function* (fixture) {
  const { sql } = fixture;
  yield* Effect.all([sql.withTransaction(add(sql, "first")), bulk(sql, add(sql, "bulk"))], atOnce);
  yield* Effect.all([sql.withTransaction(add(sql, "second")), add(sql, "statement")], atOnce);
  expect(names(fixture)).toEqual(["bulk", "first", "second", "statement"]);
});

test("a loop of eight transactions at a time runs each of its items once", function* ({ sql }) {
  const items = Array.from({ length: 100 }, (_, i) => i);
  const done: Array<number> = [];
  const transaction = (item: number) => {
    done.push(item);
    // Groups end after 20 milliseconds, in the turn of the event loop in which the fiber of their last member starts.
    const until = performance.now() + (item % 25 === 20 ? 21 : 0);
    while (performance.now() < until);
    return sql.withTransaction(add(sql, `${item}`));
  };
  yield* Effect.forEach(items, transaction, { concurrency: 8, discard: true });
  expect(done).toEqual(items);
});
