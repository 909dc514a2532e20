import { KeyStore } from "@accountlink/core/keys";
import { Effect, Fiber, Option } from "effect";
import { expect } from "vitest";
import { origin, Tampering, test } from "../sqlite/test_tampering.ts";
import { entriesOfStep } from "./account_end.ts";

const count = 3 * entriesOfStep;

test("the entries of an account that ends move in steps to an account that a move of the storage finds", function* () {
  const { tamper, look } = yield* Tampering;
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "ada", chatId: null, tier: "free" });
  tamper(`
    INSERT INTO journal (place, sequence, at, action, actor_type, actor_id, details)
    WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
    SELECT 'account ada', i, 1, 'key.created', 'account', 'ada', '{}' FROM numbers`);
  const left = () => look("SELECT 1 FROM journal WHERE place = 'account ada'").length;
  const ending = yield* Effect.forkChild(
    keys.endAccount({ ...origin, name: "ada", pseudonym: "gone", at: 2 }),
  );
  while (left() === count) yield* Effect.yieldNow;
  expect(left() % entriesOfStep).toBe(0);
  expect(look("SELECT name FROM accounts WHERE name = 'gone'").length).toBe(1);
  expect(yield* Fiber.join(ending)).toEqual(Option.some([]));
  expect(left()).toBe(0);
  const renamed = "SELECT 1 FROM journal WHERE place = 'account gone' AND actor_id = 'gone'";
  expect(look(renamed).length).toBe(count);
});
