import { expect, it } from "vitest";
import { useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const makers = "Makers of chess sets, boards, clocks and books in the old town";

const { visit } = useDashboard((fixture) => ({
  ...fixture,
  accounts: ["Chess Club", makers].map((name) => ({
    name,
    tier: "free",
    members: [
      { chatId: "100005", role: "owner" },
      { chatId: "100004", role: "moderator" },
    ],
  })),
}));

it("an owner invites a moderator, who declines, accepts the next time, and is removed", async () => {
  const page = await visit("/dashboard", /Ada\b/, desktop);
  await press(page, "Team");
  await expectUsable(page, "Team", "team-alone");
  const invite = async () => {
    await page.getByLabel("Who", { exact: true }).fill("newcomer");
    await press(page, "Next: see who it is");
    await page.getByText("(@newcomer, ID 100003) to Ada’s account as Moderator").waitFor();
    await expectUsable(page, "Invite Newcomer?", "team-invite");
    await press(page, "Invite Newcomer");
    await page.getByText("Invited. They accept after they sign in, within 14 days.").waitFor();
    await page.getByText("Not accepted yet.").waitFor();
  };
  await invite();
  await expectUsable(page, "Team", "team");
  await page.getByText("Change the role of Newcomer").click();
  await page.getByText("Withdraw the invitation of Newcomer").click();
  await expectUsable(page, "Team", "team-open");

  const invited = await visit("/dashboard", /Newcomer/, phone);
  await expectUsable(invited, "You are invited", "team-invited");
  await invited.getByText("Ada invites you to Ada’s account as Moderator").waitFor();
  await invited.locator("summary", { hasText: "Decline" }).click();
  await press(invited, "Decline the invitation");
  await invited.getByText("The invitation was declined.").waitFor();
  await page.reload();
  expect(await page.getByText("Newcomer").count()).toBe(0);
  await invite();

  const moderator = await visit("/dashboard/account/choose", /Newcomer/, {
    ...phone,
    javaScriptEnabled: false,
  });
  await moderator.getByRole("button", { name: /^Accept, and use/ }).click();
  await moderator.goto(new URL("/dashboard/team", moderator.url()).href);
  await moderator.locator("summary", { hasText: "Menu" }).click();
  const menu = moderator.getByRole("navigation", { name: "Dashboard" });
  const entries = await menu.getByRole("link").allTextContents();
  expect(entries.join()).toBe("Links,Alts,Audit log,Team,Account");
  // The entries stand in two columns.
  const lefts = await menu
    .getByRole("link")
    .evaluateAll((links) => links.map(({ offsetLeft }) => offsetLeft));
  expect(new Set(lefts).size).toBe(2);
  await expect.poll(() => moderator.locator("h1").textContent()).toBe("Team");
  await page.reload();
  await page.getByText("Remove Newcomer").click();
  await press(page, "Remove from the team");
  await page.getByText("No longer in the team.").waitFor();
  expect(await page.getByText("Newcomer").count()).toBe(0);
});

it("users with several accounts choose an account after signing in, and can change it in the menu", async () => {
  const page = await visit("/dashboard", /Busy/, phone);
  await expectUsable(page, "Which account?", "team-choice");
  await press(page, `Use ${makers}`);
  await expectUsable(page, "Links", "team-moderator-links");
  await page.getByText(`${makers} · free`).waitFor();
  // The long name leaves the button on one line.
  expect((await page.getByRole("button", { name: "Sign out" }).boundingBox())?.height).toBeLessThan(40);
  await press(page, "Change account");
  await press(page, "Use Chess Club");
  await page.getByText("Chess Club · free").waitFor();
});
