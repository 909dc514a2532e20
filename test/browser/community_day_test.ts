/** A day of an owner, with Discord's side in the channels of the dev platform. */
import { expect, it } from "vitest";
import { inGuilds } from "../support/fixtures.ts";
import { ownGuild, useDashboard } from "./dashboard_pages.ts";
import { expectUsable } from "./looks.ts";

const club = { account: "Chess Club", scope: "guild", guildId: ownGuild } as const;

const { open, platform } = useDashboard((fixture) => ({
  accounts: [{ name: "Chess Club", chatId: "100001", tier: "premium" }],
  links: [{ ...club, chatId: "100001", gameId: "1" }],
  plans: [{ ...club, rules: [], state: "on" }],
  platform: {
    ...inGuilds(fixture, () => ({
      members: [
        { chatId: "100001", manager: true },
        ...["100003", "100006", "100007"].map((chatId) => ({ chatId, joined: "2026-01-01T00:00:00.000Z" })),
      ],
      channels: [
        { id: "70", name: "welcome" },
        { id: "71", name: "mod-log", isPublic: false },
        { id: "72", name: "staff", mayPost: false },
      ],
      roles: [{ id: "12", name: "Officer", assignable: true }],
    })),
    gameGroups: [
      {
        id: "9",
        name: "Makers",
        ranks: [
          { rank: 1, name: "Fan" },
          { rank: 9, name: "Officer" },
        ],
      },
    ],
  },
}));

it("an owner sets who may link, posts the panel, sees who linked, who has not and who is alike, and blocks a member", async () => {
  const page = await open("/dashboard/communities", /Ada\b/);
  await page.press("Rook & Bishop");
  expect(page.words).toMatch(/ Now .*Rules .*Panel Not posted Log None .*Verify address/);
  const days = "Youngest account on the game platform that may link, in days";
  await page.press("Save", { [days]: "soon" }, days);
  expect(page.words).toContain("Expected a whole number from 0 to 3,650, or nothing.");
  expect(await page.press("Save", { [days]: "30" }, days)).toContain("Saved. It holds for new links");

  await page.press("Choose channels");
  await expectUsable(page, "Log and panel of Rook & Bishop", "log-and-panel");
  const log = "Channel of the log";
  await page.press("Save", { [log]: "# staff (the bot may not post there)" });
  expect(page.words).toContain("Expected a channel in which the bot may post.");
  await page.press("Save", { [log]: "# mod-log" });
  expect(page.words).toContain("The bot tells in this channel what happens from now on.");

  await page.goto("/dashboard/links");
  await page.press("Members without a link");
  await expectUsable(page, "Members without a link", "unlinked");
  expect(page.words).toMatch(/1 of 4.*Newcomer/);
  await page.press("Post the panel");
  const text = { "Text of the panel": "Prove who <you> are" };
  await page.press("Update the preview", text);
  expect(page.all("figure").join()).toContain("Prove who <you> are");
  expect(await page.press("Post the panel", text)).toContain("Channel of the panel: fill this in");
  expect(page.value("Text of the panel")).toBe("Prove who <you> are");
  await page.press("Post the panel", { "Channel of the panel": "# welcome" });
  expect(page.words).toContain("The panel is in the channel.");
  await expectUsable(page, "Log and panel of Rook & Bishop", "log-and-panel-on");
  await page.press("Try it as a member");
  const guildPage = page.url.replace(/\?.*/, "");
  expect(page.all("section", "welcome").join()).toContain("Prove who <you> are");

  // Three members verify in one browser, by the panel.
  for (const [chat, game] of [
    [/Grace\b/, /Player 2\b/],
    [/Linus\b/, /Player 3\b/],
    [/Newcomer\b/, /Player 4\b/],
  ] as const) {
    await page.goto(guildPage);
    await page.press("Verify", {}, "Prove who <you> are");
    await page.press("Sign in to the chat platform");
    await page.press(chat);
    await page.press("Sign in to the game platform");
    await page.press(game);
    await page.press("Link these accounts");
  }

  const cards = () => page.all("h2").filter((name) => /Newcomer|Linus|Grace/.test(name));
  await page.goto("/dashboard/alts/new");
  await expect.poll(() => page.reload().then(cards)).toHaveLength(2);
  await expectUsable(page, "New and alike", "new-and-alike");
  expect(cards()).toEqual([expect.stringContaining("Newcomer"), expect.stringContaining("Linus")]);
  expect(page.all("li", /^Newcomer/)[0]).toContain("Same browser, which 3 people use, today");
  expect(await page.press("Different people", {}, /^Newcomer.*Grace/)).toContain("Your review is saved.");
  await page.press("Same person", {}, /^Newcomer/);
  const [newest = ""] = page.all("li", /^Newcomer/);
  expect(newest).toContain("your team called both the same person");
  expect(newest).not.toContain("Different people");

  await page.press(/^Newcomer/);
  await page.press(/^Block/);
  await expectUsable(page, "Block?", "block-question");
  expect(page.words).toMatch(/This removes 1 link.* your team can then undo this on the page of the user\./);
  const nobody = { "on the chat platform": false, "on the game platform": false };
  expect(await page.press("Block", nobody)).toContain("No user was selected.");
  await page.goto("/dashboard/links/user?chatId=100003");
  await page.press(/^Block/);
  expect(await page.press("Block", { Reason: "Came back after a ban" })).toContain("Blocked. Verifications");
  await expectUsable(page, "Blocked users", "blocks");
  expect(page.all("tr", "Came back after a ban")).toHaveLength(2);
  const mayLink = async () => {
    await page.goto("/dashboard/links/user?chatId=100003");
    return page.all("button", /^Link$/).length > 0;
  };
  expect(await mayLink()).toBe(false);
  await page.goto(`${guildPage}?as=100003`);
  await page.press("Send", { Command: "/verify" });
  const refused = page.all("li", "/verify").at(-1);
  expect(refused).toContain("cannot verify in");
  expect(refused).not.toContain("Came back after a ban");

  await page.goto("/dashboard/communities");
  await page.press(/Roles of Rook/);
  await page.press("Show its ranks", { "Group of the ranks": "9" });
  expect(await page.press("Make the missing roles")).toContain("The bot makes 1 role");
  expect(page.all("li", /^(?:Officer|Fan)/)).toEqual(["Officer (rank 9)", "Fan"]);
  expect(await page.press("Make 1 role")).toContain("2 ranks with a role of the same name:");
  await page.goto("/dashboard/alts/new");
  expect(cards()).toEqual([expect.stringContaining("Linus")]);

  await page.goto("/dashboard/links/blocks");
  expect(await page.press(/^No longer block/)).toContain("The user may verify again");
  expect(page.all("tr", "Came back after a ban")).toHaveLength(1);
  await page.press(/^No longer block/);
  expect(await mayLink()).toBe(true);
  expect(await page.press("Undo: link them again")).toContain("The link is back as it was.");
  await page.goto("/dashboard/communities");
  await page.press("Rook & Bishop");
  await page.press("Choose channels");
  const closed = { body: { name: "mod-log", mayPost: false } };
  await platform.send(`PUT /control/guilds/${ownGuild}/channels/71`, closed);
  await page.reload();
  expect(await page.press("Save", {}, log)).toContain("Expected a channel in which the bot may post.");
  expect(await page.press("Save", { [log]: "" })).toContain("Saved. The bot tells nothing any more.");
});
