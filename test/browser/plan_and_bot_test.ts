/** The parts of the dashboard where owners learn about their plan, and add the bot. */
import { expect, it } from "vitest";
import { useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { visit, url } = useDashboard((fixture) => ({
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
  const page = await visit("/dashboard", /Ada\b/, desktop);
  await page.getByRole("link", { name: "Account", exact: true }).click();
  await expectUsable(page, "Account", "account-plan");
  await page.getByText("Your plan is Free").waitFor();
  expect(await page.getByRole("row", { name: /Alts/ }).textContent()).toMatch(/no\s*yes/);
  await page.getByText("To get Premium, ask whoever runs this service.").waitFor();
});

it("the dashboard adds the bot, and then shows this step as done, without JavaScript", async () => {
  const page = await visit("/dashboard", /Ada\b/, { ...phone, javaScriptEnabled: false });
  await page.getByText("The bot is in none of the communities that you manage.").waitFor();
  await press(page, "Add the bot");
  await page.getByRole("heading", { name: "Add the bot" }).waitFor();
  await press(page, /Engine Room/);
  await page.getByText("It is now in Engine Room.").waitFor();
  await press(page, "Back to the dashboard");
  await page.waitForURL(`${url()}/dashboard`);
  await page.getByText("Add the bot to your community: done").waitFor();
  await page.getByText("The bot is in Engine Room.").waitFor();
  await page.goto(`${url()}/dashboard/keys/new`);
  expect(await page.getByLabel("Community", { exact: true }).inputValue()).toBe("700000000000000009");
});
