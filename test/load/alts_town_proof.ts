/** How often alt detection is right in towns of 100,000 people: the bounds that docs/alts.md names. */
import { expect, test } from "vitest";
import { scoreOf } from "../support/alt_score.ts";
import { askAbout, ratesFrom, type TownAnswer } from "./alts_rates.ts";
import type { TownPlan } from "./alts_town.ts";

const seeds = ["1", "2", "3", "4", "5"].map((number) => `town ${number}`);

/** How many of the people are in the community. Where everybody is, a smaller town has as many accounts. */
const communities = {
  everybody: { membership: 1, people: 20_000 },
  "1 in 10": { membership: 0.1, people: 100_000 },
  "1 in 20": { membership: 0.05, people: 100_000 },
  "1 in 50": { membership: 0.02, people: 100_000 },
};

const answersOf = async (community: Omit<TownPlan, "seed">): Promise<ReadonlyArray<TownAnswer>> => {
  const towns: Array<ReadonlyArray<TownAnswer>> = [];
  for (const seed of seeds) towns.push(await askAbout({ seed, ...community }));
  return towns.flat();
};

const share = (value: number): string => (Number.isNaN(value) ? "–" : value.toFixed(2));

test("alt detection in towns of 100,000 people is right as often as its documentation says", async () => {
  const rows: Array<string> = [];
  for (const [name, community] of Object.entries(communities)) {
    const answers = await answersOf(community);
    for (const { report } of answers) {
      const { score, severity, alt } = report.risk;
      expect(scoreOf(report)).toEqual({ score, severity, alt });
    }
    const [critical, high, medium] = [75, 50, 25].map((least) => ratesFrom(answers, least));
    if (critical === undefined || high === undefined || medium === undefined) throw new Error("No rates");
    const pairs = [critical, high, medium].map(
      ({ precision, recall }) => `${share(precision)}, ${share(recall)}`,
    );
    rows.push(`| ${name} | ${pairs.join(" | ")} | ${share(high.recallOfTraces)} |`);
    if (name === "everybody") continue;
    expect(high.precision).toBeGreaterThanOrEqual(0.9);
    expect(high.recall).toBeGreaterThanOrEqual(0.6);
    expect(high.recallOfTraces).toBeGreaterThanOrEqual(0.9);
    expect(medium.precision).toBeGreaterThanOrEqual(0.3);
  }
  console.log(rows.join("\n"));
});
