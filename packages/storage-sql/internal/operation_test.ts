import { describe, expect, it } from "@effect/vitest";
import { Cause, Effect, Exit } from "effect";
import { SqlError } from "effect/sql";
import { operation } from "./operation.ts";
import { UnreadableRow } from "./row.ts";

const because = { cause: new Error("node:sqlite says so") };
const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError(because) });

const exitOf = <A>(effect: Effect.Effect<A, SqlError.SqlError | UnreadableRow>) =>
  Effect.exit(operation("LinkStore.setGame")(effect));

describe("operation", () => {
  it.effect.each([
    ["a lost connection", Effect.fail(lost)],
    ["a row that cannot be read", Effect.fail(new UnreadableRow({ table: "links" }))],
    ["a rollback that failed", Effect.die(lost)],
    [
      "a COMMIT that failed and could not be undone",
      Effect.failCause(Cause.combine(Cause.die(lost), Cause.die(because))),
    ],
  ] as const)("makes %s StoreUnavailable", ([, effect]) =>
    Effect.gen(function* () {
      const exit = yield* exitOf(effect);
      expect(Exit.hasDies(exit)).toBe(false);
      expect(Exit.findErrorOption(exit)).toMatchObject({
        value: { _tag: "StoreUnavailable", operation: "LinkStore.setGame" },
      });
    }),
  );

  it.effect.each([
    ["a constraint that refuses the write", Effect.fail(refused(new SqlError.ConstraintError(because)))],
    [
      "a value that is taken",
      Effect.fail(refused(new SqlError.UniqueViolation({ ...because, constraint: "keys.id" }))),
    ],
    ["a bug", Effect.die(new TypeError("Cannot read properties of undefined"))],
  ] as const)("leaves %s a defect", ([, effect]) =>
    Effect.gen(function* () {
      const exit = yield* exitOf(effect);
      expect(Exit.hasDies(exit)).toBe(true);
      expect(Exit.hasFails(exit)).toBe(false);
    }),
  );

  it.effect.each([
    ["a deadlock", new SqlError.DeadlockError(because)],
    ["a transaction that came in between", new SqlError.SerializationError(because)],
  ] as const)("tries once more after %s, and no more than that", ([, reason]) =>
    Effect.gen(function* () {
      let attempts = 0;
      const failing = (times: number) =>
        Effect.suspend(() => (++attempts <= times ? Effect.fail(refused(reason)) : Effect.succeed("done")));
      expect(yield* exitOf(failing(1))).toEqual(Exit.succeed("done"));
      attempts = 0;
      expect(Exit.findErrorOption(yield* exitOf(failing(2)))).toMatchObject({
        value: { _tag: "StoreUnavailable" },
      });
      expect(attempts).toBe(2);
    }),
  );

  it.effect("leaves an interruption what it is", () =>
    Effect.gen(function* () {
      expect(Exit.hasInterrupts(yield* exitOf(Effect.interrupt))).toBe(true);
    }),
  );

  it.effect("refuses text that no store holds before anything is done", () =>
    Effect.gen(function* () {
      let done = false;
      const effect = Effect.sync(() => {
        done = true;
      });
      const exit = yield* Effect.exit(operation("KeyStore.findAccount", "good", "b\0d")(effect));
      expect(Exit.hasDies(exit)).toBe(true);
      expect(done).toBe(false);
    }),
  );
});

function refused(reason: SqlError.SqlErrorReason): SqlError.SqlError {
  return new SqlError.SqlError({ reason });
}
