/**
 * Many rounds of `kill -9` on one data folder.
 */
import { expect, test } from "vitest";
import { runKillRounds } from "./kill_rounds.ts";

test("every write that was answered survives 50 times kill -9", async () => {
  const counts = await runKillRounds(50);
  console.log(counts);
  expect(counts.rounds).toBe(50);
  expect(counts.answered).toBeGreaterThan(50);
});
