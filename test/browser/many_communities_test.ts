/** The pages of an account with more communities than one page looks at. */
import { expect, it } from "vitest";
import { accountOf, newToken } from "../support/fixtures.ts";
import { ownGuild, useDashboard } from "./dashboard_pages.ts";
import { expectUsable } from "./looks.ts";

/** The bot is in none of the others. */
const guildIds = [ownGuild, ...Array.from({ length: 120 }, (_, index) => `7100000000000001${index + 10}`)];
const lists = guildIds.map((guildId) => ({ account: "network", scope: "guild" as const, guildId }));

const { open } = useDashboard(() => ({
  accounts: [accountOf({ name: "network", chatId: "100001" })],
  keys: lists.map((list) => ({ ...list, key: newToken() })),
  links: lists.flatMap((list) => {
    const chatIds = list.guildId === ownGuild ? ["100002", "100003"] : ["100004"];
    return chatIds.map((chatId) => ({ ...list, chatId, gameId: "1" }));
  }),
}));

it("the list of communities has pages, and each community stands on one of them", async () => {
  const page = await open("/dashboard/communities", /Ada\b/);
  await expectUsable(page, "Communities", "communities-many");
  const first = page.all("h2", /7100|Rook/);
  await page.press("Next");
  const second = page.all("h2", /7100|Rook/);
  await page.press("Next");
  const third = page.all("h2", /7100|Rook/);
  expect([first.length, second.length, third.length]).toEqual([50, 50, 21]);
  expect(new Set([...first, ...second, ...third]).size).toBe(121);
  expect(page.all("a", "Next")).toEqual([]);
});

it("the overview looks at the lists with the most links, and says how many it left out", async () => {
  const page = await open("/dashboard", /Ada\b/);
  await expectUsable(page, "Overview", "overview-many");
  expect(page.words).toContain("21 further lists of links were not checked for problems here");
  expect(page.words).toContain("93 further problems of your communities");
  expect(page.words).toContain("115 further lists of links");
});
