/** What the pages say of communities in which the bot cannot do its work. */
import { expect, test } from "vitest";
import { botlessGuild, guild } from "../support/fixtures.ts";
import { wordsOf } from "../support/flow_browser.ts";
import { enterDashboard, putPlan, signInOwner } from "./dashboard.ts";
import { exportOf, managedBy, useSiteServer } from "./site_server.ts";

const [ada, ben, dan, eve] = ["100001", "100002", "100004", "100005"];
const chief = { id: "9", name: "Chief", assignable: false };
const fan = { id: "7", name: "Fan", assignable: true };

const server = useSiteServer({}, (fixture) => ({
  ...managedBy([ada, ben], [chief, fan])(fixture),
  accounts: [{ name: "club", chatId: ada, members: [ben, dan].map((chatId) => ({ chatId, role: "admin" })) }],
}));
const { fixtures, send } = server;
const key = fixtures.key({ account: "club", guildId: guild, links: { [eve]: "1" } });
fixtures.key({ account: "club", guildId: botlessGuild });

/** The words of the overview and of the page of communities, without markup. */
const pagesOf = async (chatId: string) => {
  const { browser } = await signInOwner(server, chatId);
  const pages = await Promise.all(["/dashboard", "/dashboard/communities"].map((path) => browser.get(path)));
  return pages.map(wordsOf);
};

const put = async (change: object, member = ada) => {
  const { owner, pid } = await enterDashboard(server, member, guild);
  expect((await putPlan(owner, { pid, ...change })).status).toBe(200);
};

test("the overview and the list of communities say where the bot is missing, and lead to add it", async () => {
  for (const text of await pagesOf(ada)) expect(text).toMatch(/The bot is not in .*Add the bot to /);
});

test("they say who paused the rules of a community", async () => {
  const rules = [{ roleId: fan.id, when: { is: "linked" } }];
  await put({ rules });
  for (const text of await pagesOf(ada)) expect(text).not.toContain("paused");
  await put({ rules, state: "paused" });
  for (const text of await pagesOf(ada))
    expect(text).toContain("rules of Rook & Bishop were paused by you at ");
  for (const text of await pagesOf(dan)) expect(text).toContain("Bishop were paused by User 1 at ");
  const { browser, pid } = await enterDashboard(server, ada, guild);
  const page = await browser.get(`/dashboard/communities/${pid}/roles`);
  // The page says this reason, and not all that there may be.
  expect(page.text).toContain("They were paused at ");
  expect(page.text).not.toContain("because");
  const me = await server.signIn(ada, server.newBrowser(), "me");
  expect((await exportOf(me)).body).toMatchObject({ pauses: [{ guildId: guild }] });
});

test("who edits paused rules or sets the log channel is not told to have paused the rules", async () => {
  const rules = [{ roleId: fan.id, when: { is: "linked" } }];
  await put({ rules, state: "paused", nickname: "{game.username}" }, ben);
  await put({ rules, state: "paused", nickname: "{game.username}", logChannelId: guild }, ben);
  for (const text of await pagesOf(dan)) expect(text).toContain("Bishop were paused by User 1 at ");
});

test("they say which role stands above the bot, and how to mend it, to who may read the roles", async () => {
  await put({ rules: [{ roleId: chief.id, when: { is: "linked" } }] });
  const { status } = await send("POST /v2/members/sync", { key, body: { chatId: eve, guildId: guild } });
  expect(status).toBe(200);
  const mended = "the bot may not change the role Chief. Move the bot’s role above Chief";
  await expect.poll(async () => (await pagesOf(ada)).every((text) => text.includes(mended))).toBe(true);
  for (const text of await pagesOf(dan)) expect(text).toContain("may not change the role Role 9.");
});
