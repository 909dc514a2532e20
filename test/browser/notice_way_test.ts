/** The bot's message that rules have stopped leads to the page that says why, and turns them on again. */
import { expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { inGuilds, ownGuild, useDashboard } from "./dashboard_pages.ts";

const [ada, grace] = ["100001", "100006"] as const;
const teams = [
  { name: "Chess Club", chatId: ada },
  { name: "Go Club", chatId: grace },
] as const;

const { open, platform } = useDashboard((fixture) => ({
  ...fixture,
  accounts: [...teams],
  keys: teams.map(({ name }) => ({
    account: name,
    scope: "guild" as const,
    guildId: ownGuild,
    key: newToken(),
  })),
  platform: inGuilds(fixture, () => ({ members: teams.map(({ chatId }) => ({ chatId, manager: true })) })),
}));

const turnOn = async (page: Awaited<ReturnType<typeof open>>) => {
  await page.goto("/dashboard/communities");
  await page.press(/Roles of Rook/);
  await page.press("Turn on linking without roles");
  return page.words;
};

it("an owner whose rules stopped goes from the message to the page, and turns them on again", async () => {
  const page = await open("/dashboard/communities", /Ada\b/);
  await turnOn(page);
  await page.press("Try it as a member");
  const inGuild = page.url.replace(/\?.*/, "");
  const setManager = async (manager: boolean) => {
    const path = `PUT /control/guilds/${ownGuild}/members/${ada}` as const;
    expect((await platform.send(path, { body: { manager } })).status).toBeLessThan(300);
  };
  await setManager(false);
  const rival = await open("/dashboard/communities", /Grace\b/);
  await expect.poll(() => turnOn(rival), { timeout: 30_000 }).toContain("Linking is on");
  await rival.press("Save and pause");
  await setManager(true);

  await expect
    .poll(() => page.goto(`${inGuild}?as=${ada}`).then(() => page.textOf("private")), { timeout: 30_000 })
    .toContain("because nobody of your team managed the community any more");
  await page.press("rules of");
  expect(page.url).toContain(`/roles?guildId=${ownGuild}`);
  expect(page.all("h1")).toEqual(["Roles and nicknames of Rook & Bishop"]);
  await page.press("Turn on linking without roles");
  expect(page.words).toContain("Linking is on");
});
