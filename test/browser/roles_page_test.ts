import { expect, it, onTestFinished } from "vitest";
import { inGuilds } from "../support/fixtures.ts";
import type { PlainPage } from "../support/plain_page.ts";
import { focused } from "./browser.ts";
import { hostile, ownGuild, shows, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

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

const { open, visit, platform } = useDashboard((fixture) => ({
  accounts: [{ name: "Chess Club", chatId: "100001", tier: "free" }],
  links: scopes.map((scope) => ({ account: "Chess Club", ...scope, chatId: "100001", gameId: "1" })),
  platform: {
    ...inGuilds(fixture, () => ({ roles })),
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
const usual = "Roles and nicknames of Rook & Bishop";

const openRoles = async (name = /Roles of Rook/) => {
  const page = await open("/dashboard/communities", /Ada\b/);
  await page.press(name);
  return page;
};

/** Waits until everyone is compared with the rules. */
const compared = async (page: PlainPage) => {
  await shows(page, /This is what would change:|Nobody would change/);
  await expectUsable(page, "What changes in Rook & Bishop", "roles-preview-all");
  return page.words;
};

const turnOn = async (page: PlainPage, button = "Turn on") => {
  const shown = await compared(page);
  expect(await page.press(button)).toContain("Everyone is compared now");
  return shown;
};

const deleteRules = async (page: PlainPage) => {
  expect(page.words).toMatch(
    /\d+ rules? (?:is|are) deleted, and nobody can bring (?:it|them) back\. Members keep/,
  );
  expect(await page.press("Delete the rules")).toContain("The rules are deleted.");
};

it("a role plan is previewed for one member, and then gives a role to all linked members", async () => {
  const page = await openRoles();
  await expectUsable(page, usual, "roles-new");
  expect(await page.press(seeThenOn)).toContain("Choose the role, or remove the rule.");
  await page.press("Add another rule", { "gets the role": "Member" });
  await page.press("Save without turning on", {
    "Rule 2: Who": "Linked members of a group",
    "Rule 2: gets the role": "Officer",
    "Rule 2: Group": "9",
    "Rule 2: Lowest rank": "200",
    "Rule 2: Highest rank": "100",
    "Nickname of everybody else who linked": "{name} | Rook",
  });
  expect(page.words).toMatch(
    /expected at least one of the names in braces that this page lists, and no other/i,
  );
  await page.press("Save without turning on", {
    "Nickname of everybody else who linked": "{game.username} | Rook",
  });
  expect(page.words).toContain("Lady Ada, an Officer who plays as ada_g, is called ada_g | Rook.");
  expect(page.words).toContain("Expected no less than the lowest rank.");
  await expectUsable(page, usual, "roles-wrong");
  await page.press("Save without turning on", { "Rule 2: Highest rank": "255" });
  expect(page.words).toContain("Nothing is changed while the rules are paused.");

  const preview = async (Member: string) => {
    await page.press("Show what would change", { "Member to look at": Member });
    return page.words;
  };
  expect(await preview("nobody_here")).toContain("Nobody of that name is in the community.");
  expect(page.value("Member to look at")).toBe("nobody_here");
  const ada = await preview("ada");
  expect(ada).toMatch(/ada is linked\. Would get: Member\. Would be called \w+ \| Rook\./);
  expect(ada).toMatch(/Each rule for this member .*A member who has linked gets Member\. yes/);
  expect(await preview("mallory")).toContain(
    "mallory is not linked. These rules give nothing without a link.",
  );
  await page.press("Save without turning on", { "Rule 1: gets the role": "11" });
  const denied = await preview("ada");
  expect(denied).toMatch(/The bot may not change the role Owner\. Move the bot’s role above Owner/);
  expect(denied).not.toContain("Would get");
  await expectUsable(page, usual, "roles-preview");
  await page.press(seeThenOn, { "Rule 1: gets the role": "13" });
  await page.press("Back to the rules");
  expect(page.value("Nickname of everybody else who linked")).toBe("{game.username} | Rook");
  await page.press(seeThenOn);
  // Before the rules are on, the page says of any member which of them hold, and why.
  await page.press("Show what would change", { "Member to look at": "nobody_here" });
  expect(page.words).toContain("Nobody of that name is in the community.");
  await page.press("Show what would change", { "Member to look at": "mallory" });
  expect(page.words).toMatch(
    /mallory is not linked\..*A member who has linked gets Member\. no Not linked\..*gets Officer\. no Not linked\./,
  );
  await expectUsable(page, "What changes in Rook & Bishop", "roles-preview-member");
  const shown = await turnOn(page);
  expect(shown).toMatch(/Member 0 1/);
  expect(shown).toMatch(/How nicknames read.*\w+ \| Rook/);
  await expectUsable(page, usual, "roles-on");
  await page.press("See what changes, then save", {
    "Nickname of everybody else who linked": "{game.username} | Bishop",
  });
  await turnOn(page, "Save these rules");
  await deleteRules(page);
});

it("a rule shows the name of its game pass, or that the platform knows no such game pass", async () => {
  const page = await openRoles();
  const who = { Who: "Linked members who have a game pass" };
  expect(await page.press("Add another rule", { ...who, Item: "55" })).toContain("VIP");
  await page.press("Add another rule", { Item: "56" });
  expect(page.words).toContain("No game pass on the game platform has this ID.");
  await expectUsable(page, usual, "roles-item");
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
  await page.getByLabel("Item", { exact: true }).fill("404");
  await page.getByLabel("gets the role").selectOption({ label: "Officer" });
  await page.getByLabel("Nickname of everybody else who linked").fill("{game.username} | Bishop");
  await press(page, seeThenOn);
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByText("Everyone is compared now").waitFor();
  const problems = page.getByRole("table", { name: "What the bot could not change" });
  await problems.getByRole("row", { name: /Ada Nickname The chat platform refuses the nickname/ }).waitFor();
  await problems
    .getByRole("row", { name: /Everyone Officer The game platform has nothing with the ID/ })
    .waitFor();
  await expectUsable(page, `Roles and nicknames of ${hostile} by the shared list`, "roles-problems");
});

const vipOfficers = "A member who has the game pass VIP and is at least Chief of Guild gets Officer.";

it("an owner gives a role to VIP officers alone, in three presses and six fields", async () => {
  const page = await openRoles();
  const opened = page.clicks;
  const pass = { Who: "Linked members who have a game pass", Item: "55", "gets the role": "Officer" };
  await page.press("And …", pass);
  const rank = {
    and: "Linked members of a group",
    "Condition 2: Group": "3",
    "Condition 2: Lowest rank": "255",
  };
  await page.press(seeThenOn, rank);
  expect(await compared(page)).toMatch(/Officer 0 1/);
  // Turning on is the third press.
  expect(page.clicks - opened + 1).toBe(3);
  expect(await page.press("Back to the rules")).toContain(vipOfficers);
  expect([pass, rank].flatMap(Object.keys)).toHaveLength(6);
});

it("with a script, an owner sees only the fields that VIP officers need", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await press(page, /Roles of Rook/);
  const shown = (label: string) => page.getByLabel(label, { exact: true }).filter({ visible: true });
  await shown("Who").selectOption("Linked members who have a game pass");
  await shown("Item").fill("55");
  await shown("gets the role").selectOption({ label: "Officer" });
  await press(page, /^And …/);
  await shown("and").selectOption("Linked members of a group");
  expect(await focused(page)).toBe("when-1-2");
  await shown("Group").fill("3");
  await shown("Lowest rank").fill("255");
  expect(await shown("Item").count()).toBe(1);
  await press(page, "Add another rule");
  await page.getByText(vipOfficers).waitFor();
  expect(await focused(page)).toBe("when-2");
  await press(page, /^Up/);
  await page.getByRole("group", { name: "Rule 2" }).getByText(vipOfficers).waitFor();
  expect(await focused(page)).toBe("when-1");
  await page.getByLabel("Nickname of everybody else who linked").press("Enter");
  await page.getByText("Choose the role, or remove the rule.").waitFor();
});

it("each of 300 ranks that has a role of its name becomes a rule, in five clicks", async () => {
  const page = await openRoles();
  await page.press("Show its ranks", { "Group of the ranks": "10" });
  expect(page.words).toContain("Climbers has 300 ranks. 50 ranks with a role of the same name:");
  await expectUsable(page, usual, "roles-ranks");
  await page.press("Add 50 rules");
  await expectUsable(page, usual, "roles-ranks-added");
  expect(page.value("Rule 3: Lowest rank")).toBe("3");
  expect(page.value("Rule 3: gets the role")).toBe("103");
  await page.press(seeThenOn);
  await turnOn(page);
  // Opening the form of the ranks is a click, too, and a sign-in and the link to the page are not counted.
  expect(page.clicks - 2 + 1).toBe(5);
});

it("the roles page marks roles that the bot may not give, names the list whose rules are on, and deletes rules", async () => {
  const page = await openRoles(/Roles of .*[Ss]hared list/);
  await page.press(/Rook/);
  expect(page.all("option", "Owner")).toContain("Owner (the bot may not give it)");
  expect(page.words).toContain("are on for this community. Only the rules of one list can be on");
  expect(page.all("h1").join()).toMatch(/by the shared list$/);
  expect(page.all("button", seeThenOn)).toEqual([]);
  expect(page.all("a", "Rook & Bishop")).toHaveLength(1);
  // The script renews numbers from the address of the page, which a form may have answered.
  await page.press("Add another rule");
  await page.reload();
  expect(page.all("h1").join()).toMatch(/by the shared list$/);
  await page.press("Save without turning on", {
    "gets the role": "Visitor",
    Who: "Members without a link",
  });
  await deleteRules(page);
});

it("linking is turned on without roles, and goes on while rules are paused", async () => {
  const page = await openRoles();
  expect(page.words).toContain("Linking in this community, its log and its reminders are turned off too.");
  await deleteRules(page);
  expect(await page.press("Turn on linking without roles")).toContain("Linking is on: members type /verify.");
  await page.press("Add a rule");
  expect(await page.press("Remove rule 1", { "gets the role": "Member" })).not.toContain("gets the role");
  await page.press("Save and pause");
  expect(page.words).toContain("Nobody gets or loses a role or nickname until you turn the rules on.");
  await page.press("Save without turning on", { "gets the role": "Member" });
  expect(await page.goto("/dashboard")).toContain("The rules are paused.");
});

it("what a form of the channels has done is told where the focus is", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await press(page, "Verify address and settings of Rook");
  await press(page, "Choose channels");
  await page.getByLabel("Send the private message").click();
  await page.getByRole("button", { name: "Save" }).last().click();
  await expect.poll(() => focused(page)).toBe("Saved.");
});

it("a form that was changed asks before it is left", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await press(page, /Roles of Rook/);
  expect(await page.getByLabel("Lowest rank").isVisible()).toBe(false);
  await page.getByLabel("Who", { exact: true }).selectOption({ label: "Linked members of a group" });
  expect(await page.getByLabel("Lowest rank").isVisible()).toBe(true);
  const nickname = page.getByLabel("Nickname of everybody else who linked");
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
