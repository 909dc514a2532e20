/** Who of a guild's members has not linked. */
import { afterEach, expect, test } from "vitest";
import { botlessGuild, chatUsers, emptyGuild, guild } from "../support/fixtures.ts";
import { wordsOf } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import { dataOf, expectForbidden, expectInvalid, expectMissing } from "./contract_server.ts";
import { enterDashboard, type Owner, putPlan, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer } from "./site_server.ts";

const [ada, mod] = ["100001", "100002"];
const server = useSiteServer({}, clubOf(ada, { team: { [mod]: "moderator" } }));
const { fixtures, send, platform } = server;
const key = fixtures.key({ account: "club", guildId: guild, links: { 100003: "3", 100004: "4" } });
fixtures.key({ account: "club" });

afterEach(() => platform.recover());

const unlinked = async (owner: Owner, pid: string, query: Readonly<Record<string, string>> = {}) =>
  owner.send(`GET /dashboard/api/unlinked?${new URLSearchParams({ pid, guildId: guild, ...query })}`);

test("members without a link are listed with how many of how many, in pages, also for moderators", async () => {
  const { owner, pid } = await enterDashboard(server, mod, guild);
  const first = dataOf(await unlinked(owner, pid, { limit: "20" }));
  expect(first).toMatchObject({ linked: 2, total: chatUsers.length });
  expect(listOf(first.members)[0]).toEqual({
    chatId: ada,
    username: "user_1",
    displayName: "User 1",
    joined: "2024-01-01T00:00:00.000Z",
    reminded: null,
  });
  const second = dataOf(await unlinked(owner, pid, { limit: "20", cursor: textOf(first.next) }));
  const seen = [...listOf(first.members), ...listOf(second.members)].map(({ chatId }) => chatId);
  const expected = chatUsers.map(({ id }) => id).filter((id) => !["100003", "100004"].includes(id));
  expect([seen, second.next]).toEqual([expected, null]);
});

test("the page lists who joined first, on request, and says how a community removes them", async () => {
  const owner = await signInOwner(server, ada);
  const page = async (query: string) =>
    (await owner.browser.get(`/dashboard/links/unlinked?guildId=${guild}&order=oldest${query}`)).text;
  const first = await page("");
  const idsIn = (text: string) =>
    [...text.matchAll(/<th scope="row"><a [^>]*>[^<]*\((\d+)\)<\/a>/g)].map(([, id]) => id);
  const next = /rel="next" href="[^"]*(&amp;cursor=[^"]*)"/.exec(first)?.[1]?.replaceAll("&amp;", "&");
  const expected = chatUsers.map(({ id }) => id).filter((id) => !["100003", "100004"].includes(id));
  const seen = [...idsIn(first), ...(next === undefined ? [] : idsIn(await page(next)))];
  expect(seen).toEqual(expected.toReversed());
  expect(first).toContain("the first to join first");
  expect(first).toMatch(/This service removes nobody\. A <a href="[^"]*roles[^"]*">rule<\/a>/);
});

test("a link counts at once, and a search finds names and IDs", async () => {
  const { owner, pid } = await enterDashboard(server, ada, guild);
  const body = { chatId: "100005", gameId: "5", guildId: guild };
  await send("PATCH /v2/game", { key, body });
  expect(dataOf(await unlinked(owner, pid))).toMatchObject({ linked: 3, total: chatUsers.length });
  await send("DELETE /v2/game", { key, body });
  const ids = async (q: string) =>
    listOf(dataOf(await unlinked(owner, pid, { q })).members).map(({ chatId }) => chatId);
  expect(await ids("USER_10")).toEqual(["100010"]);
  expect(await ids("100006")).toEqual(["100006"]);
  expect(await ids("100003")).toEqual([]);
});

test("the page asks the list that the rules ask, also the shared one", async () => {
  const { owner, global, pid } = await enterDashboard(server, ada, guild);
  const wordsAt = async (path: string) => wordsOf(await owner.browser.get(path));
  const page = (query: Readonly<Record<string, string>>) =>
    wordsAt(`/dashboard/links/unlinked?${new URLSearchParams(query)}`);
  const put = (list: string, state: string) => putPlan(owner, { pid: list, state });
  const total = chatUsers.length;
  const block = { pid, chatId: "100007" };
  await owner.send("PUT /dashboard/api/blocks", { body: block });
  const own = await page({ pid });
  expect(own).toContain(`2 of ${total} members of`);
  expect(own.match(/user_\d+ Blocked/g)).toEqual(["user_7 Blocked"]);
  await owner.send("DELETE /dashboard/api/blocks", { body: block });
  expect(await wordsAt(`/dashboard/links?pid=${pid}`)).toContain("Linked or verified");
  expect(await wordsAt("/dashboard/communities")).toContain("who links in one of them is linked in all");
  expect((await put(global, "on")).status).toBe(200);
  await owner.send("PUT /dashboard/api/links", { body: { pid: global, chatId: "100009", gameId: "9" } });
  for (const query of [{ pid }, { guildId: guild }, {}]) {
    const words = await page(query);
    expect(words).toContain(`1 of ${total} members of`);
    expect(words).toContain("As the rules do, this asks the shared list.");
  }
  const figures = (await wordsAt("/dashboard")).match(new RegExp(`\\d+ of ${total} members`, "g"));
  expect(figures).toEqual([`1 of ${total} members`]);
  expect((await put(global, "paused")).status).toBe(200);
  expect((await put(pid, "on")).status).toBe(200);
  expect(await page({ guildId: guild })).toContain(`2 of ${total} members of`);
  await owner.send("DELETE /dashboard/api/links", { body: { pid: global, chatId: "100009" } });
});

test("only a guild that the account manages is told, where the bot is", async () => {
  const { owner, global, pid } = await enterDashboard(server, ada, guild);
  expectMissing(await owner.send(`GET /dashboard/api/unlinked?pid=${pid}`), "guildId");
  expectInvalid(await unlinked(owner, pid, { cursor: "x" }), "cursor");
  expect((await unlinked(owner, "pid_0000000000000000")).status).toBe(404);
  expectForbidden(await unlinked(owner, pid, { guildId: emptyGuild }), "wrong_guild");
  expectForbidden(await unlinked(owner, global, { guildId: botlessGuild }), "bot_not_in_guild");
  expect(dataOf(await unlinked(owner, global))).toMatchObject({ linked: 0, total: chatUsers.length });
  expectForbidden(await unlinked(owner, global, { guildId: emptyGuild }), "not_guild_manager");
});

test("while the platform is down, nobody is told", async () => {
  const { owner, pid } = await enterDashboard(server, ada, guild);
  await platform.fail({ mode: "down", platform: "chat", status: 500 });
  await expect.poll(async () => (await unlinked(owner, pid)).status).toBe(503);
});
