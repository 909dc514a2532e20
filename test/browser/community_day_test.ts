/** A day of an owner, with Discord's side in the channels of the dev platform. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press, walk } from "./flow_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const club = { account: "Chess Club", scope: "guild", guildId: ownGuild } as const;

const { visit, url } = useDashboard((fixture) => ({
  ...fixture,
  accounts: [{ name: "Chess Club", chatId: "100001", tier: "premium" }],
  links: [{ ...club, chatId: "100001", gameId: "1" }],
  plans: [{ ...club, rules: [], state: "on" }],
  platform: {
    ...fixture.platform,
    guilds: (fixture.platform?.guilds ?? []).map((guild) => ({
      ...guild,
      members: [
        { chatId: "100001", manager: true },
        ...["100003", "100006", "100007"].map((chatId) => ({ chatId, joined: "2026-01-01T00:00:00.000Z" })),
      ],
      channels: [
        { id: "70", name: "welcome" },
        { id: "71", name: "mod-log" },
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

/** The page of the guild on the dev platform, without a member. */
let guildPage = "";

/** Signs in to both platforms by the panel, and links the accounts. */
const verify = async (page: Page, chatName: RegExp, gameName: RegExp) => {
  await page.goto(guildPage);
  await page.locator("#channel-70").getByRole("link", { name: "Verify" }).click();
  await walk(page, chatName, gameName);
  await press(page, "Link these accounts");
};

/** Types a command in the channel, and returns the answer. */
const ask = async (page: Page, chatId: string, command: string) => {
  await page.goto(`${guildPage}?as=${chatId}`);
  await page.getByLabel("Command", { exact: true }).fill(command);
  await press(page, "Send");
  return page.locator("ol.messages li").filter({ hasText: command }).last().innerText();
};

it("an owner sets who may link, posts the panel, sees who linked, who has not and who is alike, and blocks a member", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await press(page, "Rook & Bishop");
  const [days, admission] = [
    page.getByLabel("Days that a game account must exist"),
    page.locator("#admission").getByRole("button", { name: "Save" }),
  ];
  await days.fill("soon");
  await admission.click();
  await page.getByText("Expected a whole number from 0 to 3650 or nothing.").waitFor();
  await days.fill("30");
  await admission.click();
  await page.getByText("Saved. It holds for new links").waitFor();

  await press(page, "Choose channels");
  await expectUsable(page, "Log and panel of Rook & Bishop", "log-and-panel");
  const log = page.getByLabel("Channel of the log");
  await log.selectOption({ label: "# staff (the bot may not post there)" });
  await press(page, "Save");
  await page.getByText("Expected a channel in which the bot may post.").first().waitFor();
  await log.selectOption({ label: "# mod-log" });
  await press(page, "Save");
  await page.getByText("The bot tells in this channel what happens from now on.").waitFor();

  await page.goto(`${url()}/dashboard/links`);
  await press(page, "Members who have not linked");
  await expectUsable(page, "Not linked", "unlinked");
  await page.getByText("1 of 4").waitFor();
  await page.getByRole("link", { name: "Newcomer" }).waitFor();
  await press(page, "Post the panel");
  await page.getByLabel("Text of the panel").fill("Prove who <you> are");
  await press(page, "Update the preview");
  await page.getByRole("figure").getByText("Prove who <you> are").waitFor();
  await press(page, "Post the panel");
  await page.getByText("Expected a channel in which the bot may post.").first().waitFor();
  expect(await page.getByLabel("Text of the panel").inputValue()).toBe("Prove who <you> are");
  await page.getByLabel("Channel of the panel").selectOption({ label: "# welcome" });
  await press(page, "Post the panel");
  await page.getByText("The panel is in the channel.").waitFor();
  await expectUsable(page, "Log and panel of Rook & Bishop", "log-and-panel-on");
  await press(page, "Try it as a member");
  guildPage = page.url().replace(/\?.*/, "");
  await page.locator("#channel-70").getByText("Prove who <you> are").waitFor();

  // Grace and Linus verify in one browser.
  await verify(page, /Grace\b/, /Player 2\b/);
  await verify(page, /Linus\b/, /Player 3\b/);
  await verify(page, /Newcomer\b/, /Player 4\b/);

  await page.goto(`${url()}/dashboard/alts/new`);
  const cards = page.locator("ul.cards > li");
  await expect.poll(() => page.reload().then(() => cards.count())).toBe(2);
  await expectUsable(page, "New and alike", "new-and-alike");
  const newest = cards.first();
  expect(await cards.locator("h2 a").allInnerTexts()).toEqual([
    expect.stringContaining("Newcomer"),
    expect.stringContaining("Linus"),
  ]);
  expect(await newest.innerText()).toContain("Same browser, which 3 people use, today");
  const likeGrace = newest.locator("form").last();
  await likeGrace.getByRole("button", { name: "Different people" }).click();
  await page.getByText("Your review is saved.").waitFor();
  await newest.getByRole("button", { name: "Same person" }).click();
  await newest.getByText("your team called both the same person").waitFor();
  expect(await newest.locator("form").count()).toBe(0);

  await newest.locator("h2 a").click();
  await page.locator("#block a.button").click();
  await expectUsable(page, "Block?", "block-question");
  await page.getByText("This removes 1 link").waitFor();
  await page.getByLabel("Reason").fill("Came back after a ban");
  await page.getByRole("button", { name: "Block", exact: true }).click();
  await page.getByText("Blocked. Verifications").waitFor();
  await expectUsable(page, "Blocked users", "blocks");
  expect(await page.getByRole("row").filter({ hasText: "Came back after a ban" }).count()).toBe(2);
  const refused = await ask(page, "100003", "/verify");
  expect(refused).toContain("does not admit you");
  expect(refused).not.toContain("Came back after a ban");

  await page.goto(`${url()}/dashboard/communities`);
  await press(page, /Roles of Rook/);
  await page.getByText("One rule for each rank of a group").click();
  await page.getByLabel("Group of the ranks").fill("9");
  await press(page, "Show its ranks");
  await press(page, "Make the missing roles");
  await page.getByText("The bot makes 1 role").waitFor();
  expect(await page.getByRole("main").getByRole("listitem").allInnerTexts()).toEqual([
    "Officer (rank 9)",
    "Fan",
  ]);
  await press(page, "Make 1 role");
  await page.getByText("2 ranks with a role of the same name:").waitFor();
  await page.goto(`${url()}/dashboard/alts/new`);
  expect(await cards.locator("h2 a").allInnerTexts()).toEqual([expect.stringContaining("Linus")]);

  await page.goto(`${url()}/dashboard/links/blocks`);
  await press(page, /^No longer block/);
  await page.getByText("The user may verify again").waitFor();
  expect(await page.getByRole("row").filter({ hasText: "Came back after a ban" }).count()).toBe(1);
  await page.goto(`${url()}/dashboard/communities`);
  await press(page, "Rook & Bishop");
  await press(page, "Choose channels");
  await log.selectOption("");
  await press(page, "Save");
  await page.getByText("Saved. The bot tells nothing any more.").waitFor();
});
