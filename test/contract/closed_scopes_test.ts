/** Scopes of guilds that nobody of their account manages: they are closed to the team, in the flow and in chat. */
import { expect, test } from "vitest";
import { chatKey, command } from "../support/chat.ts";
import { guild } from "../support/fixtures.ts";
import { formOf, titleOf } from "../support/flow_browser.ts";
import { listOf } from "../support/http.ts";
import { dataOf, expectForbidden } from "./contract_server.ts";
import { enterDashboard, pidOf, signInOwner } from "./dashboard.ts";
import { expectPage } from "./flow_server.ts";
import { useSiteServer, verified } from "./site_server.ts";

/** Ada manages neither guild, and Ben manages the second one. */
const [ada, ben, cyd, dan, eve] = ["100001", "100002", "100003", "100004", "100005"];
const [moved, held, shared] = ["700000000000000009", "700000000000000010", "700000000000000011"];
const left = "700000000000000012";

const rules = [{ roleId: verified.id, when: { is: "linked" as const } }];

const server = useSiteServer({ ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey }, ({ platform, plans = [] }) => ({
  plans: [
    ...plans,
    { account: "moderated", scope: "global", guildId: held, rules, nickname: null, state: "on" },
  ],
  platform: {
    guilds: [
      ...(platform?.guilds ?? []),
      {
        id: moved,
        name: "Moved",
        bot: true,
        roles: [verified],
        members: [{ chatId: ben, manager: true }, { chatId: ada }, { chatId: cyd }],
      },
      { id: held, name: "Held", bot: true, roles: [verified], members: [{ chatId: ben, manager: true }] },
      { id: shared, name: "Shared", bot: true, members: [{ chatId: dan, manager: true }, { chatId: cyd }] },
      { id: "700000000000000013", name: "Elsewhere", members: [{ chatId: eve, manager: true }] },
      {
        id: left,
        name: "Left",
        bot: false,
        roles: [verified],
        members: [{ chatId: eve, manager: true }, { chatId: cyd }],
      },
    ],
  },
}));
const { fixtures, send } = server;
fixtures.account({ name: "former", chatId: ada });
fixtures.account({ name: "present", chatId: ben });
const ofFormer = { account: "former", links: { [cyd]: "3" } };
fixtures.key({ ...ofFormer });
for (const guildId of [guild, moved]) fixtures.key({ ...ofFormer, guildId });
// Nobody lends a guild to the account, but its moderator manages one.
fixtures.account({ name: "moderated", chatId: cyd, team: { [ben]: "moderator" } });
fixtures.key({ account: "moderated" });
const present = fixtures.key({ account: "present", guildId: moved });
fixtures.account({ name: "two", chatId: dan });
const ofAll = fixtures.key({ account: "two" });
fixtures.plan({ account: "former", guildId: guild, rules, state: "on" });
fixtures.plan({ account: "present", guildId: moved, rules, state: "on" });
fixtures.account({ name: "left", chatId: eve });
fixtures.plan({ account: "left", guildId: left, rules, state: "on" });

test("a guild's links are closed to a team that does not manage the guild, and can only be deleted", async () => {
  const { owner, pid, global } = await enterDashboard(server, ada, guild);
  const link = { pid, chatId: cyd };
  for (const answer of [
    await owner.send(`GET /dashboard/api/links?pid=${pid}`),
    await owner.send("PUT /dashboard/api/links", { body: { ...link, gameId: "4" } }),
    await owner.send("DELETE /dashboard/api/links", { body: link }),
    await owner.send(`GET /dashboard/api/blocks?pid=${pid}`),
    await owner.send("PUT /dashboard/api/blocks", { body: { ...link, reason: null } }),
    await owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: { displayName: "The official one" } }),
    await owner.send(`GET /dashboard/api/unlinked?pid=${pid}&guildId=${guild}`),
  ]) {
    expectForbidden(answer, "not_guild_manager");
  }
  for (const path of [`links?pid=${pid}`, `links.csv?pid=${pid}`, `links/user?pid=${pid}&chatId=${cyd}`]) {
    const page = await owner.browser.get(`/dashboard/${path}`, { "accept-language": "de" });
    expect(page.status).toBe(403);
    expect(page.text).toContain("Eine Community ist geschlossen, solange der Bot");
  }
  const { text } = await owner.browser.get("/dashboard/links.csv?pid=all");
  expect(text.split("\n").filter((line) => line.includes(cyd))).toHaveLength(1);
  const { links } = dataOf(await owner.send(`GET /dashboard/api/links?pid=${global}`));
  expect(listOf(links)).toHaveLength(1);
  expect((await owner.browser.get(`/dashboard/communities/${pid}/delete`)).status).toBe(200);
});

test("nobody verifies for a guild that the account does not manage, and chat knows no such list", async () => {
  const { pid } = await enterDashboard(server, ada, guild);
  expectPage(await server.newBrowser().get(`/verify?pid=${pid}`), 404, "This address does not work");
  const { body } = await command(send, { chatId: cyd }, "verify");
  expect(body.data?.content).toMatch(/not set up/i);
});

test("a global scope lets the members of a guild in while its plan is on there, whoever lends the guild", async () => {
  const { pid } = await enterDashboard(server, cyd);
  const enter = (guildId: string) => server.newBrowser().get(`/verify?pid=${pid}&guildId=${guildId}`);
  expectPage(await enter(held), 200, "Link your accounts");
  expectPage(await enter(moved), 404, "This address does not work");
});

test("an old panel leads to the list that its guild has now", async () => {
  const { pid } = await enterDashboard(server, ada, moved);
  const browser = server.newBrowser();
  const confirm = await browser.walk(`?pid=${pid}&guildId=${moved}`, cyd, "5");
  expectPage(await browser.post("/verify/confirm", formOf(confirm)), 200, "Your accounts are linked");
  const lookup = `GET /v2/chat?chatId=${cyd}&guildId=${moved}` as const;
  expect(dataOf(await send(lookup, { key: present })).gameId).toBe("5");
});

test("an old panel of paused rules leads to the list that has taken its guild over", async () => {
  const owner = await signInOwner(server, dan);
  await owner.browser.post("/dashboard/communities", { csrf: owner.csrfToken, guildId: shared });
  const [old, now] = [await pidOf(owner, shared), await pidOf(owner)];
  const turns = [
    [old, "on"],
    [old, "paused"],
    [now, "on"],
  ];
  for (const [pid, state] of turns) {
    const body = { pid, guildId: shared, rules: [], nickname: null, state };
    expect((await owner.send("PUT /dashboard/api/roles", { body })).status).toBe(200);
  }
  const browser = server.newBrowser();
  const confirm = await browser.walk(`?pid=${old}&guildId=${shared}`, cyd, "6");
  expectPage(await browser.post("/verify/confirm", formOf(confirm)), 200, "Your accounts are linked");
  expect(dataOf(await send(`GET /v2/chat?chatId=${cyd}`, { key: ofAll })).gameId).toBe("6");
});

test("who has closed lists alone reads why they are closed, and gets to the page that mends it", async () => {
  const owner = await signInOwner(server, eve);
  const { browser } = owner;
  for (const path of ["links", "links/blocks", "alts/new"]) {
    const { status, text } = await browser.get(`/dashboard/${path}`);
    expect([path, status]).toEqual([path, 403]);
    expect(text).toContain("A community is closed while the bot is not in it");
    expect(text).toContain('<p><a href="/dashboard/communities">Communities</a></p>');
  }
  const { text } = await browser.get(`/dashboard/communities/${await pidOf(owner, left)}`);
  expect(text).not.toContain("The bot is in Elsewhere");
});

test("members link again in a community whose rules stopped without the bot, as soon as it is back", async () => {
  const pid = await pidOf(await signInOwner(server, eve), left);
  const browser = server.newBrowser();
  const entered = async () => {
    const { status, text } = await browser.get(`/verify?pid=${pid}`);
    return [status, titleOf(text)];
  };
  await expect
    .poll(entered, { timeout: 20_000, interval: 500 })
    .toEqual([404, "The community is not available"]);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const added = await server.platform.send("POST /chat/bot", { body: `guild=${left}`, headers: form });
  expect(added.status).toBe(200);
  await expect.poll(entered, { timeout: 20_000, interval: 500 }).toEqual([200, "Link your accounts"]);
  const { body } = await command(send, { chatId: cyd, guildId: left }, "verify");
  expect(JSON.stringify(body)).toContain(`/verify?pid=${pid}`);
});
