import { expect, it } from "vitest";
import { accountOf } from "../support/fixtures.ts";
import { useDashboard } from "./dashboard_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const makers = "Makers of chess sets, boards, clocks and books in the old town";

const { open, visit } = useDashboard(() => ({
  accounts: ["Chess Club", makers].map((name) =>
    accountOf({ name, tier: "free", team: { 100005: "owner", 100004: "moderator" } }),
  ),
}));

it("an owner invites a moderator, who declines, accepts the next time, and is removed", async () => {
  const page = await open("/dashboard", /Ada\b/);
  await page.press("Team");
  await expectUsable(page, "Team", "team-alone");
  expect(page.words).toContain("A community is closed when nobody of the team manages it");
  // The only owner reads before leaving, or giving up the role, that this takes another owner first.
  expect(page.all("details", "the team")).toEqual([
    "Leave the team A team needs an owner who has accepted. Make somebody else an owner first.",
  ]);
  expect(page.all("summary", "the role of")).toEqual([]);
  const invite = async () => {
    await page.press("Next: see who it is", { Who: "newcomer" });
    expect(page.words).toContain("(@newcomer, ID 100003) to Ada’s account as Moderator");
    await expectUsable(page, "Invite Newcomer?", "team-invite");
    await page.press("Invite Newcomer");
    expect(page.words).toContain("Invited. They accept after they sign in, within 14 days.");
    expect(page.all("li", "Newcomer").join()).toContain("Not accepted yet.");
    expect(page.all("li", "Ada").join()).not.toContain("Not accepted yet.");
  };
  await invite();
  await expectUsable(page, "Team", "team");

  const invited = await open("/dashboard", /Newcomer/);
  await expectUsable(invited, "You are invited", "team-invited");
  expect(invited.words).toContain("Ada invites you to Ada’s account as Moderator");
  expect(await invited.press("Decline the invitation")).toContain("The invitation was declined.");
  expect(await page.goto("/dashboard/team")).not.toContain("Newcomer");
  await invite();

  const moderator = await open("/dashboard/account/choose", /Newcomer/);
  await moderator.press(/^Accept, and use/);
  const real = await visit("/dashboard/team", /Newcomer/, { ...phone, javaScriptEnabled: false });
  await real.locator("summary", { hasText: "Menu" }).click();
  const entries = real.getByRole("navigation", { name: "Dashboard" }).getByRole("link");
  expect((await entries.allTextContents()).join()).toBe("Links,Alts,Audit log,Team,Account");
  // The entries stand in two columns.
  const lefts = await entries.evaluateAll((links) => links.map(({ offsetLeft }) => offsetLeft));
  expect(new Set(lefts).size).toBe(2);
  await page.goto("/dashboard/team");
  expect(await page.press("Remove from the team", {}, "Newcomer")).toContain("No longer in the team.");
  expect(page.words).not.toContain("Newcomer");
});

it("users with several accounts choose an account after signing in, and can change it in the menu", async () => {
  const page = await visit("/dashboard", /Busy/, phone);
  await expectUsable(page, "Which account?", "team-choice");
  await page.getByRole("button", { name: `Use ${makers}` }).click();
  await expectUsable(page, "Links", "team-moderator-links");
  await page.getByText(`${makers} · free`).waitFor();
  // The long name leaves the button on one line.
  expect((await page.getByRole("button", { name: "Sign out" }).boundingBox())?.height).toBeLessThan(40);
  const plain = await open("/dashboard/account/choose", /Busy/);
  await plain.press("Use Chess Club");
  expect(plain.answer.text).toContain("Chess Club · free");
  await plain.press("Change account");
  expect(plain.title).toContain("Which account?");
});
