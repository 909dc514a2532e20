import { expect, test } from "@accountlink/test-servers/effect";
import { Cause, Effect, Exit } from "effect";
import { SqlError } from "effect/sql";
import { UnreadableRow } from "./row.ts";
import { storeOperation } from "./store_operation.ts";

const because = { cause: new Error("driver error") };
const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError(because) });

const exitOf = <A>(effect: Effect.Effect<A, SqlError.SqlError | UnreadableRow>) =>
  Effect.exit(storeOperation("LinkStore.setGame")(effect));

test.each([
  ["a lost connection", Effect.fail(lost)],
  ["an invalid row", Effect.fail(new UnreadableRow({ table: "links" }))],
  ["a failed rollback", Effect.die(lost)],
  [
    "a failed COMMIT with a failed rollback",
    Effect.failCause(Cause.combine(Cause.die(lost), Cause.die(because))),
  ],
] as const)("the operation fails with StoreUnavailable for %s", function* ([, effect]) {
  const exit = yield* exitOf(effect);
  expect(Exit.hasDies(exit)).toBe(false);
  expect(Exit.findErrorOption(exit)).toMatchObject({
    value: { _tag: "StoreUnavailable", operation: "LinkStore.setGame" },
  });
});

test.each([
  ["a constraint violation", Effect.fail(refused(new SqlError.ConstraintError(because)))],
  [
    "a unique violation",
    Effect.fail(refused(new SqlError.UniqueViolation({ ...because, constraint: "keys.id" }))),
  ],
  ["a bug", Effect.die(new TypeError("Cannot read properties of undefined"))],
] as const)("the operation dies of %s", function* ([, effect]) {
  const exit = yield* exitOf(effect);
  expect(Exit.hasDies(exit)).toBe(true);
  expect(Exit.hasFails(exit)).toBe(false);
});

test.each([
  ["a deadlock", new SqlError.DeadlockError(because)],
  ["a serialization failure", new SqlError.SerializationError(because)],
] as const)("an operation is retried once after %s", function* ([, reason]) {
  let attempts = 0;
  const failing = (times: number) =>
    Effect.suspend(() => (++attempts <= times ? Effect.fail(refused(reason)) : Effect.succeed("done")));
  expect(yield* exitOf(failing(1))).toEqual(Exit.succeed("done"));
  attempts = 0;
  expect(Exit.findErrorOption(yield* exitOf(failing(2)))).toMatchObject({
    value: { _tag: "StoreUnavailable" },
  });
  expect(attempts).toBe(2);
});

test("an interrupted operation ends as interrupted, not as failed", function* () {
  expect(Exit.hasInterrupts(yield* exitOf(Effect.interrupt))).toBe(true);
});

function refused(reason: SqlError.SqlErrorReason): SqlError.SqlError {
  return new SqlError.SqlError({ reason });
}
