import { describe, expect, it } from "vitest";
import { useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const makers = "Makers of chess sets, boards, clocks and books in the old town";

const { visit } = await useDashboard((fixture) => ({
  ...fixture,
  accounts: ["Chess Club", makers].map((name) => ({
    name,
    tier: "free",
    members: [
      { chatId: "100005", role: "owner" },
      { chatId: "100004", role: "moderator" },
    ],
  })),
  platform: {
    ...fixture.platform,
    chatUsers: [
      ...(fixture.platform?.chatUsers ?? []),
      { id: "100004", username: "both", displayName: "Busy" },
    ],
  },
}));

describe("the page Team", () => {
  it("an owner adds a moderator in at most four clicks, and the moderator can then sign in", async () => {
    const watched = await visit("/dashboard", /Ada\b/, desktop);
    const { page } = watched;
    await press(page, "Team");
    await expectUsable(watched, "Team", "team-alone");
    await page.getByLabel("Who", { exact: true }).fill("newcomer");
    await press(page, "Add to the team");
    await page.getByText("Added to the team. They can sign in now.").waitFor();
    await expectUsable(watched, "Team", "team");
    await page.getByText("Change the role of Newcomer").click();
    await page.getByText("Remove Newcomer").click();
    await expectUsable(watched, "Team", "team-open");
    await watched.close();

    const moderator = await visit("/dashboard/team", /Newcomer/, { ...phone, javaScriptEnabled: false });
    await moderator.page.locator("summary", { hasText: "Menu" }).click();
    const menu = moderator.page.getByRole("navigation", { name: "Dashboard" });
    expect(await menu.getByRole("link").allTextContents()).toEqual([
      "Links",
      "Alts",
      "Audit log",
      "Team",
      "Account",
    ]);
    await expect.poll(() => moderator.page.locator("h1").textContent()).toBe("Team");
    await moderator.close();
  });

  it("without a script, the team page refuses an unknown user name", async () => {
    const watched = await visit("/dashboard/team", /Ada\b/, { ...phone, javaScriptEnabled: false });
    const { page } = watched;
    // The page has no Copy button, because copying needs a script.
    expect(await page.getByRole("button", { name: /^Copy/ }).count()).toBe(0);
    await page.getByLabel("Who", { exact: true }).fill("nobody_here");
    await press(page, "Add to the team");
    await page.getByText("Nobody was found with this user name.").waitFor();
    expect(await page.getByLabel("Who", { exact: true }).inputValue()).toBe("nobody_here");
    await page.getByLabel("Who", { exact: true }).fill("100002");
    await press(page, "Add to the team");
    await page.getByText("Added to the team.").waitFor();
    await watched.close();
  });

  it("users with several accounts choose an account after signing in, and can change it in the menu", async () => {
    const watched = await visit("/dashboard", /Busy/, phone);
    const { page } = watched;
    await expectUsable(watched, "Which account?", "team-choice");
    await press(page, `Use ${makers}`);
    await expectUsable(watched, "Links", "team-moderator-links");
    await page.getByText(`${makers} · free`).waitFor();
    // The long name leaves the button on one line.
    expect((await page.getByRole("button", { name: "Sign out" }).boundingBox())?.height).toBeLessThan(40);
    await press(page, "Change account");
    await press(page, "Use Chess Club");
    await page.getByText("Chess Club · free").waitFor();
    await watched.close();
  });
});
