/** The town of `alts_town_proof.ts`, smaller: what severities are worth there. */
import { expect, test } from "vitest";
import { scoreOf } from "../support/alt_score.ts";
import { askAbout, ratesFrom } from "./alts_rates.ts";

test("HIGH means that an account has another one, and most of these are found", async () => {
  const answers = await askAbout({ seed: "a small town", people: 30_000, membership: 0.1 });
  for (const { report } of answers) {
    const { score, severity, alt } = report.risk;
    expect(scoreOf(report)).toEqual({ score, severity, alt });
  }
  const [high, medium] = [ratesFrom(answers, 50), ratesFrom(answers, 25)];
  expect(high.answers).toBeGreaterThan(100);
  expect(high.precision).toBeGreaterThan(0.85);
  expect(high.recall).toBeGreaterThan(0.6);
  expect(high.recallOfTraces).toBeGreaterThan(0.85);
  expect(medium.precision).toBeGreaterThan(0.3);
});
