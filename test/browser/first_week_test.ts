/** What owners set in the first week: conditions, who never links, reminders, one member for each account, and blocks. */
import { expect, it } from "vitest";
import { inGuilds } from "../support/fixtures.ts";
import { openPlainPage } from "../support/plain_page.ts";
import { ownGuild, shows, useDashboard } from "./dashboard_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const club = { account: "Chess Club", scope: "guild", guildId: ownGuild } as const;
const helper = { id: "15", name: "Helper" };

const { open, visit, url } = useDashboard((fixture) => ({
  accounts: [{ name: "Chess Club", chatId: "100001", tier: "premium" }],
  links: [{ ...club, chatId: "100001", gameId: "1" }],
  platform: inGuilds(fixture, () => ({
    members: [
      { chatId: "100001", manager: true, roles: [helper] },
      { chatId: "100003", joined: "2026-01-03T00:00:00.000Z" },
      { chatId: "100006", joined: "2026-01-01T00:00:00.000Z" },
      { chatId: "100007", joined: "2026-01-02T00:00:00.000Z" },
    ],
    channels: [{ id: "70", name: "welcome" }],
    roles: [
      { id: "12", name: "Guest", assignable: true },
      { id: "13", name: "Solo", assignable: true },
      { id: "14", name: "Staff", assignable: true },
      { ...helper, assignable: true },
    ],
  })),
}));

const community = "Rook & Bishop";

const openCommunity = async () => {
  const page = await open("/dashboard/communities", /Ada\b/);
  await page.press(community);
  return page;
};

it("an owner sets rules with opposites, roles and days, and sees what they do to any member and why", async () => {
  const page = await openCommunity();
  expect(page.words).toMatch(/Now .*Rules None yet.*First steps/);
  await page.press("Choose roles");
  const guest = { Who: "Members without a link", "Days without a link": "7", "gets the role": "Guest" };
  await page.press("Add another rule", guest);
  const solo = {
    "Rule 2: Who": "Linked members of a group",
    "Rule 2: Group": "3",
    "Rule 2: Has to be": "not true",
    "Rule 2: gets the role": "Solo",
  };
  await page.press("Add another rule", solo);
  const staff = {
    "Rule 3: Who": "Members who have a role",
    "Rule 3: Role that they have": "Helper",
    "Rule 3: gets the role": "Staff",
  };
  await page.press("Save without turning on", staff);
  expect(page.all("p", /^A member who/)).toEqual([
    "A member who has been here for at least 7 days without a link gets Guest.",
    "A member who is not in Guild gets Solo.",
    "A member who has the role Helper gets Staff.",
  ]);
  const tried = async (member: string) => {
    await page.press("Show what would change", { "Member to look at": member });
    return page.words.split("Try it with one member")[1] ?? "";
  };
  expect(await tried("grace")).toMatch(
    /grace is not linked\. Would get: Guest and Solo\. .*link gets Guest\. yes Here without a link since 2026-01-01\. .*Solo\. yes .*gets Staff\. no/,
  );
  expect(await tried("ada")).toMatch(
    /ada is linked\. Would get: Staff\. .*gets Guest\. no Linked\. .*gets Staff\. yes/,
  );
  await expectUsable(page, `Roles and nicknames of ${community}`, "first-week-rules");
  await page.press("See what changes, then turn on");
  await shows(page, "This is what would change:");
  expect(page.all("tr", /^(?:Guest|Solo|Staff)/)).toEqual([
    "Guest 0 3 0 Would get it: Newcomer, Grace, Linus.",
    "Solo 0 3 0 Would get it: Newcomer, Grace, Linus.",
    "Staff 0 1 0 Would get it: Ada.",
  ]);
  await page.press("Turn on");
  await page.goto("/dashboard/communities");
  expect(await page.press(community)).toMatch(/Rules On/);
  expect(page.words).not.toContain("First steps");
  await expectUsable(page, community, "first-week-community");
});

it("an owner sees who has been here longest without a link, and is asked before they are reminded", async () => {
  const page = await openCommunity();
  await page.goto("/dashboard/links");
  await page.press("Members without a link");
  const names = () =>
    page
      .all("th")
      .filter((name) => /Grace|Linus|Newcomer/.test(name))
      .map((name) => name.split(" ")[0]);
  expect(names()).toEqual(["Newcomer", "Linus", "Grace"]);
  await page.press("Search", { Order: "First to join first" });
  expect(names()).toEqual(["Grace", "Linus", "Newcomer"]);
  expect(page.words).toContain("This service removes nobody.");
  await expectUsable(page, "Members without a link", "first-week-unlinked");

  await page.goto("/dashboard/communities");
  await page.press(community);
  await page.press("Choose channels");
  const days = "Remind after how many days";
  expect(await page.press("Next: see how many", { [days]: "soon" })).toContain("1 to 90");
  await page.press("Next: see how many", { [days]: "7" });
  await expectUsable(page, "Remind members without a link?", "first-week-reminders");
  expect(page.words).toMatch(/3 members without a link joined more than 7 days ago\..*may hold back a bot/);
  await page.press("Cancel");
  expect(page.value(days)).toBe("");
  await page.press("Next: see how many", { [days]: "7" });
  await page.press("Turn reminders on");
  expect(page.value(days)).toBe("7");
  await page.press("Next: see how many", { [days]: "" });
  expect(page.value(days)).toBe("");
});

it("an owner allows one member for each account, and the member moves the link", async () => {
  const page = await openCommunity();
  const one =
    "An account on the game platform belongs to one member. Who proves it on another account on the chat platform can move the link there; links that are there stay.";
  const settings = "Youngest account on the game platform";
  expect(await page.press("Save", { [one]: true }, settings)).toContain("Saved. It holds for new links");
  const verify = page.textOf("verify-link");
  const member = await openPlainPage(url(), "198.51.100.7", new URL(verify).href);
  await member.press("Sign in to the chat platform");
  await member.press(/Grace\b/);
  await member.press("Sign in to the game platform");
  expect(await member.press(/Player 1\b/)).toContain("this community allows only one");
  expect(await member.press("Move the link here")).toContain("Your accounts are linked");
});

it("Back after a question leads to the page before it, not to a warning about forms", async () => {
  const page = await visit("/dashboard/links/blocks", /Ada\b/, phone);
  await page.getByLabel("Users").fill("grace");
  await page.getByRole("button", { name: "Next: see what happens" }).click();
  await page.getByRole("button", { name: "Block 1 user" }).click();
  await page.getByRole("button", { name: "No longer block these users" }).click();
  await page.getByText("Nobody is blocked.").waitFor();
  const heading = page.getByRole("heading", { level: 1 });
  for (const _ of ["done", "question", "list"]) {
    await page.goBack();
    expect(await heading.textContent()).toBe("Blocked users");
    expect(page.url()).toContain("/dashboard/links/blocks");
  }
});

it("an owner blocks a list at once, takes it back, and moves the blocks by a file", async () => {
  const page = await open("/dashboard/links/blocks", /Ada\b/);
  await page.press("Next: see what happens", { Users: "linus\n100003\nnobody_has_this" });
  expect(page.words).toContain("Nobody was found for: nobody_has_this.");
  await expectUsable(page, "Block 2 users?", "first-week-block-list");
  expect(await page.press("Block 2 users", { Reason: "Raid" })).toContain("2 users are blocked.");
  // The blocks are stored: the page offers to end them, not to cancel the form.
  expect(page.all("a", /^(?:Cancel|Everybody who is blocked here)$/)).toEqual([
    "Everybody who is blocked here",
  ]);
  expect(await page.press("No longer block these users")).toContain("Nobody is blocked.");
  const file = new File(["chatId,gameId,reason\n100007,,Raid\nx,,\n"], "blocks.csv");
  await page.press("Block the users of the file…", { "File of blocks": file });
  await expectUsable(page, "Block 1 user?", "first-week-block-file");
  await page.press("Block 1 user");
  const told = "1 user was blocked, 0 were blocked already, 1 row names no user.";
  expect(page.words).toContain(told);
  const later = await visit(page.url.slice(url().length), /Ada\b/, desktop);
  await later.getByText(told).waitFor();
  await later.reload();
  expect(await later.getByText(told).count()).toBe(0);
  await page.press("Block the users of the file…", { "File of blocks": file });
  expect(page.words).toContain("0 users were blocked, 1 was blocked already");
  expect(await page.press("Download who is blocked")).toContain("100007");
});
