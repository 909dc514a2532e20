/**
 * A few rounds of `kill -9`; `kill_proof.ts` has many.
 */
import { expect, test } from "vitest";
import { runKillRounds } from "./kill_rounds.ts";

test("a write that was answered survives kill -9", async () => {
  const counts = await runKillRounds(2);
  console.log(counts);
  expect(counts.rounds).toBe(2);
  expect(counts.answered).toBeGreaterThan(0);
});
