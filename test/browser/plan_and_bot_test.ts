/** The parts of the dashboard where owners learn about their plan, and add the bot. */
import { expect, it } from "vitest";
import { useDashboard } from "./dashboard_pages.ts";
import { expectUsable } from "./looks.ts";

const { open } = useDashboard((fixture) => ({
  ...fixture,
  platform: {
    ...fixture.platform,
    guilds: [
      {
        id: "700000000000000009",
        name: "Engine Room",
        bot: false,
        members: [{ chatId: "100001", manager: true }],
      },
    ],
  },
}));

it("the Account page says what Premium adds and whom to ask for it", async () => {
  const page = await open("/dashboard/account", /Ada\b/);
  await expectUsable(page, "Account", "account-plan");
  expect(page.words).toContain("Your plan is Free");
  expect(page.all("tr", "Alts").join()).toMatch(/no yes/);
  expect(page.words).toContain("To get Premium, ask whoever runs this service.");
});

it("the dashboard adds the bot, and then shows this step as done", async () => {
  const page = await open("/dashboard", /Ada\b/);
  expect(page.words).toContain("The bot is in none of the communities that you manage.");
  await page.press("Add the bot");
  await expectUsable(page, "Add the bot", "add-bot");
  await page.press(/Engine Room/);
  expect(page.words).toContain("It is now in Engine Room.");
  await page.press("Back to the dashboard");
  expect(page.words).toContain("Add the bot to your community: done");
  expect(page.words).toContain("The bot is in Engine Room.");
  await page.goto("/dashboard/keys/new");
  expect(page.value("Community")).toBe("700000000000000009");
});
