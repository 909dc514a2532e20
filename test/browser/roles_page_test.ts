import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { hostile, ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { contentWidth, desktop, expectUsable, phone } from "./looks.ts";

/** The roles of the ranks 1 to 50 of a group with 300 ranks. */
const levels = Array.from({ length: 300 }, (_, i) => ({ rank: i + 1, name: `level ${i + 1}` }));
const levelRoles = levels.slice(0, 50).map(({ rank }) => ({ id: String(100 + rank), name: `Level ${rank}` }));

const roles = [
  { id: "11", name: "Owner", assignable: false },
  { id: "12", name: "Officer", assignable: true },
  { id: "13", name: "Member", assignable: true },
  { id: "14", name: "Visitor", assignable: true },
  ...levelRoles,
];
const scopes = [{ scope: "guild", guildId: ownGuild }, { scope: "global" }] as const;

const { visit, platform } = useDashboard((fixture) => ({
  ...fixture,
  accounts: [{ name: "Chess Club", chatId: "100001", tier: "free" }],
  links: scopes.map((scope) => ({ account: "Chess Club", ...scope, chatId: "100001", gameId: "1" })),
  platform: {
    ...fixture.platform,
    guilds: (fixture.platform?.guilds ?? []).map((guild) => ({ ...guild, roles })),
    gameUsers: (fixture.platform?.gameUsers ?? []).map((user) => ({
      ...user,
      items: [{ item: "gamepass", itemId: "55", name: "VIP" }],
    })),
    gameGroups: [
      { id: "10", name: "Climbers", ranks: levels },
      { id: "9", name: "Makers", ranks: [{ rank: 1, name: "Guest" }] },
    ],
  },
}));

const seeThenOn = "See what changes, then turn on";

const deleteRules = async (page: Page) => {
  await page.getByText("Delete these rules").click();
  await press(page, "Delete the rules");
  await page.getByText("The rules are deleted. Members keep what they have.").waitFor();
};

it("a role plan is previewed for one member, and then gives a role to all linked members", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await press(page, /Roles of Rook/);
  await expectUsable(page, "Roles and names of Rook & Bishop by its own list", "roles-new");
  await press(page, seeThenOn);
  await page.getByText("Choose the role, or remove the rule.").waitFor();
  await page.getByLabel("gets the role").selectOption({ label: "Member" });
  await press(page, "Add another rule");
  const second = page.getByRole("group", { name: "Rule 2" });
  expect(await second.getByLabel("Lowest rank").isVisible()).toBe(false);
  await second.getByLabel("Who").selectOption({ label: "Linked members of a group" });
  await second.getByLabel("gets the role").selectOption({ label: "Officer" });
  await second.getByLabel("Group").fill("9");
  await second.getByLabel("Lowest rank").fill("200");
  await second.getByLabel("Highest rank").fill("100");
  const nickname = page.getByLabel("Nickname of linked members");
  await nickname.fill("{name} | Rook");
  await press(page, "Save without turning on");
  await page.getByText("Expected at least one of the names above in braces, and no other.").waitFor();
  await nickname.fill("{game.username} | Rook");
  await press(page, "Save without turning on");
  await page.getByText("Lady Ada, an Officer who plays as ada_g, is called ada_g | Rook.").waitFor();
  await page.getByText("Expected no less than the lowest rank.").waitFor();
  await expectUsable(page, "Roles and names of Rook & Bishop by its own list", "roles-wrong");
  await second.getByLabel("Highest rank").fill("255");
  await press(page, "Save without turning on");
  await page.getByText("Nothing is changed while the rules are paused.").waitFor();

  const member = page.getByLabel("Member", { exact: true });
  await member.fill("nobody_here");
  await press(page, "Show what would change");
  await page.getByText("Nobody of that name is in the community.").waitFor();
  expect(await member.inputValue()).toBe("nobody_here");
  await member.fill("ada");
  await press(page, "Show what would change");
  await page.getByText(/ada gets Member, is called \w+ \| Rook\./).waitFor();
  await page.getByLabel("Member", { exact: true }).fill("mallory");
  await press(page, "Show what would change");
  await page.getByText("mallory is not linked: gets nothing by these rules.").waitFor();
  await page.getByRole("group", { name: "Rule 1" }).getByLabel("gets the role").selectOption("11");
  await press(page, "Save without turning on");
  await page.getByLabel("Member", { exact: true }).fill("ada");
  await press(page, "Show what would change");
  await page.getByText(/The bot may not change the role Owner\. Move the bot's role above Owner/).waitFor();
  expect(await page.getByText(/ada gets/).count()).toBe(0);
  await expectUsable(page, "Roles and names of Rook & Bishop by its own list", "roles-preview");
  await page.getByRole("group", { name: "Rule 1" }).getByLabel("gets the role").selectOption("13");
  await press(page, seeThenOn);
  await page.getByText("This is what would change:").waitFor();
  await expectUsable(page, "What changes in Rook & Bishop", "roles-preview-all");
  expect(
    await page
      .getByRole("row", { name: /Member/ })
      .first()
      .textContent(),
  ).toMatch(/Member\s*0\s*1/);
  await page
    .getByRole("table", { name: "How nicknames read" })
    .getByText(/\w+ \| Rook/)
    .waitFor();
  await press(page, "Back to the rules");
  expect(await page.getByLabel("Nickname of linked members").inputValue()).toBe("{game.username} | Rook");
  await press(page, seeThenOn);
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByText("Everyone is compared now").waitFor();
  await expectUsable(page, "Roles and names of Rook & Bishop by its own list", "roles-on");
  await nickname.fill("{game.username} | Bishop");
  await press(page, "See what changes, then save");
  await press(page, "Save these rules");
  await page.getByText("Everyone is compared now").waitFor();
  await deleteRules(page);
});

it("a rule shows the name of its game pass, or that the platform knows no such game pass", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, phone);
  await press(page, /Roles of Rook/);
  await page.getByLabel("Who", { exact: true }).selectOption("Linked members who have a game pass");
  const item = page.getByLabel("Game pass, badge or item");
  await item.fill("55");
  await press(page, "Add another rule");
  await page.getByText("VIP", { exact: true }).waitFor();
  await item.first().fill("56");
  await press(page, "Add another rule");
  await page.getByText(/No game pass on the game platform has this ID\./).waitFor();
  await expectUsable(page, "Roles and names of Rook & Bishop by its own list", "roles-item");
});

it("what the bot cannot change appears on the open page when a comparison ends", async () => {
  const refuse = (code: string, route: string) => platform.fail({ mode: "refused", code, route });
  await refuse("nickname_refused", "PATCH /chat/api/guilds/:guildId/members/:chatId");
  await refuse("no_item", "GET /game/api/users/:gameId/items/:item/:itemId");
  onTestFinished(platform.recover);
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await press(page, /Roles of .*[Ss]hared list/);
  await press(page, hostile);
  await page.getByLabel("Who", { exact: true }).selectOption("Linked members who have a game pass");
  await page.getByLabel("Game pass, badge or item").fill("404");
  await page.getByLabel("gets the role").selectOption({ label: "Officer" });
  await page.getByLabel("Nickname of linked members").fill("{game.username} | Bishop");
  await press(page, seeThenOn);
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByText("Everyone is compared now").waitFor();
  const problems = page.getByRole("table", { name: "What the bot could not change" });
  await problems.getByRole("row", { name: /Ada Nickname The chat platform refuses the nickname/ }).waitFor();
  await problems
    .getByRole("row", { name: /Everyone Officer The game platform has no item with the ID/ })
    .waitFor();
  await expectUsable(page, `Roles and names of ${hostile} by the shared list`, "roles-problems");
});

it("each of 300 ranks that has a role of its name becomes a rule, in five clicks", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, phone);
  await page.addInitScript(() => {
    addEventListener("pointerdown", () => {
      sessionStorage.setItem("clicks", String(Number(sessionStorage.getItem("clicks")) + 1));
    });
  });
  await page.goto(await page.getByRole("link", { name: /Roles of Rook/ }).evaluate((link) => String(link)));
  await page.getByText("One rule for each rank of a group").click();
  await page.getByLabel("Group of the ranks").fill("10");
  await press(page, "Show its ranks");
  await page.getByText("Climbers has 300 ranks. 50 ranks with a role of the same name:").waitFor();
  await expectUsable(page, "Roles and names of Rook & Bishop by its own list", "roles-ranks");
  await press(page, "Add 50 rules");
  await page.getByRole("group", { name: "Rule 50" }).waitFor();
  expect(await contentWidth(page)).toBe(phone.viewport.width);
  const third = page.getByRole("group").filter({ has: page.locator("input[value='3'][name^=min]") });
  expect(await third.getByLabel("gets the role").inputValue()).toBe("103");
  await press(page, seeThenOn);
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByText("Everyone is compared now").waitFor();
  expect(await page.evaluate(() => sessionStorage.getItem("clicks"))).toBe("5");
});

it("without a script, the roles page marks roles that the bot may not give, and deletes rules", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, { ...phone, javaScriptEnabled: false });
  await press(page, /Roles of .*[Ss]hared list/);
  await press(page, /Rook/);
  const menu = page.getByLabel("gets the role");
  expect(await menu.locator("option").allTextContents()).toContain("Owner (the bot may not give it)");
  await menu.selectOption({ label: "Visitor" });
  await page.getByLabel("Who", { exact: true }).selectOption({ label: "Members who have not linked" });
  await page.getByText("are on for this community. Only the rules of one list can be on").waitFor();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toMatch(/by the shared list$/);
  expect(await page.getByRole("button", { name: seeThenOn }).count()).toBe(0);
  await page.getByRole("link", { name: "Rook & Bishop’s own list" }).waitFor();
  await press(page, "Save without turning on");
  await deleteRules(page);
});

it("linking is turned on without roles, and goes on while rules are paused", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, phone);
  await press(page, /Roles of Rook/);
  await deleteRules(page);
  await press(page, "Turn on linking without roles");
  await page.getByText("Linking is on: members type /verify.").waitFor();
  await press(page, "Add a rule");
  await page.getByLabel("gets the role").selectOption({ label: "Member" });
  await press(page, "Remove rule 1");
  expect(await page.getByLabel("gets the role").count()).toBe(0);
  await press(page, "Save and pause");
  await page.getByText("Nobody gets or loses a role or nickname until you turn the rules on.").waitFor();
});

it("a form that was changed asks before it is left", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await press(page, /Roles of Rook/);
  const nickname = page.getByLabel("Nickname of linked members");
  await nickname.fill("{game.username} leaves");
  const asked = new Promise<string>((resolve) => {
    page.once("dialog", async (dialog) => {
      resolve(dialog.type());
      await dialog.dismiss();
    });
  });
  await press(page, "Overview");
  expect(await asked).toBe("beforeunload");
  expect(await nickname.inputValue()).toBe("{game.username} leaves");
  page.once("dialog", (dialog) => dialog.accept());
  await press(page, "Overview");
  await page.waitForURL(/\/dashboard$/);
});
