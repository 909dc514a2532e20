import { testLive } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber } from "effect";
import { expect } from "vitest";
import { test, withDatabase } from "../test_database.ts";

const names = "SELECT name FROM counters ORDER BY name";

test("reads see writes of this process within one turn of the event loop", function* ({ sql, connection }) {
  const read = connection.executeValues(names, []);
  expect(yield* read).toEqual([]);
  yield* sql`INSERT INTO counters VALUES ('a', 1)`;
  expect(yield* read).toEqual([["a"]]);
  yield* sql.withTransaction(sql`INSERT INTO counters VALUES ('b', 1)`);
  expect(yield* read).toEqual([["a"], ["b"]]);
});

test("reads neither wait for a transaction nor see it before it commits", function* ({ sql, connection }) {
  const written = yield* Deferred.make<void>();
  const proceed = yield* Deferred.make<void>();
  const fiber = yield* sql`INSERT INTO counters VALUES ('a', 1)`.pipe(
    Effect.andThen(Deferred.succeed(written, undefined)),
    Effect.andThen(Deferred.await(proceed)),
    sql.withTransaction,
    Effect.forkChild,
  );
  yield* Deferred.await(written);
  expect(yield* connection.executeValues(names, [])).toEqual([]);
  yield* Deferred.succeed(proceed, undefined);
  yield* Fiber.join(fiber);
  expect(yield* connection.executeValues(names, [])).toEqual([["a"]]);
});

testLive("reads see writes of another process in the next turn of the event loop", () =>
  withDatabase(function* ({ connection, other }) {
    const read = connection.executeValues(names, []);
    yield* read;
    other.exec("INSERT INTO counters VALUES ('a', 1)");
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
    expect(yield* read).toEqual([["a"]]);
  }),
);

test("the connection for reads cannot write", function* ({ connection }) {
  const refused = yield* Effect.flip(connection.executeRaw("INSERT INTO counters VALUES ('a', 1)", []));
  expect(refused._tag).toBe("SqlError");
});
