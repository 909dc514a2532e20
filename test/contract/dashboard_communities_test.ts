/** Scopes, their settings and their links in the dashboard's JSON API. */
import { expect, test } from "vitest";
import { gameUsers, guild } from "../support/fixtures.ts";
import { formOf, withoutIsolation, wordsOf } from "../support/flow_browser.ts";
import { type Json, listOf, textOf } from "../support/http.ts";
import {
  dataOf,
  expectConflict,
  expectData,
  expectForbidden,
  expectInvalid,
  expectMissing,
  expectRefusal,
  expectUnknown,
} from "./contract_server.ts";
import { createKey, enterDashboard, pidOf, scopesOf, signInOwner } from "./dashboard.ts";
import { managedBy, useSiteServer } from "./site_server.ts";

const server = useSiteServer({}, (fixture) => ({
  platform: {
    ...managedBy(["100001"])(fixture).platform,
    gameUsers: gameUsers.map((user) => (user.id === "3" ? { ...user, isBanned: true } : user)),
  },
}));
const { fixtures } = server;
fixtures.account({ name: "Rook Club", chatId: "100001" });
fixtures.account({ name: "Former Club", chatId: "100002" });
const clubKey = fixtures.key({ account: "Rook Club", links: { 100002: "1", 100003: "1", 100004: "2" } });
fixtures.key({ account: "Rook Club", guildId: guild, links: { 100002: "3" } });
const formerKey = fixtures.key({ account: "Former Club", guildId: guild, links: { 100002: "3" } });
const exemptKeys = (["partner", "staff"] as const).map((kind) =>
  fixtures.key({ account: "Former Club", guildId: guild, kind }),
);

const club = async () => {
  const { owner, global, pid: ofGuild } = await enterDashboard(server, "100001", guild);
  const list = async (query: Readonly<Record<string, string>>) => {
    const found = dataOf(await owner.send(`GET /dashboard/api/links?${new URLSearchParams(query)}`));
    return { links: listOf(found.links), next: found.next as string | null | undefined };
  };
  return { owner, global, ofGuild, list };
};

const none = {
  displayName: null,
  supportUrl: null,
  doneText: null,
  minGameAgeDays: null,
  minChatAgeDays: null,
  freshProof: false,
  oneChatUser: false,
};

test("the state of a community says who has linked, what the bot may do, and what waits for a decision", async () => {
  const { owner, global, ofGuild } = await club();
  const stateOf = async (pid: string) =>
    dataOf(await owner.send(`GET /dashboard/api/communities/${pid}`)).community;
  const state = {
    bot: true,
    rights: { roles: true, nicknames: null },
    members: expect.any(Number),
    rules: "none",
    pausedFor: null,
    logChannelId: null,
    panel: null,
    lastSweepAt: null,
    problems: 0,
    likelyAlts: 0,
    settings: none,
  };
  const name = "Rook & Bishop";
  expect(await stateOf(ofGuild)).toEqual({ ...state, pid: ofGuild, guildId: guild, name, linked: 1 });
  const rights = { roles: null, nicknames: null };
  const unknown = { guildId: null, name: null, bot: null, rights, members: null };
  expect(await stateOf(global)).toEqual({ ...state, ...unknown, pid: global, linked: 3 });
  const place = { pid: ofGuild, guildId: guild };
  const rules = { rules: [], nickname: "{game.username}" };
  const put = (plan: object) =>
    owner.send("PUT /dashboard/api/roles", { body: { ...place, ...rules, ...plan } });
  const page = async () => wordsOf(await owner.browser.get(`/dashboard/communities/${ofGuild}`));
  expect(await page()).toMatch(/RulesNone yet.*First steps/);
  const taken = "The bot answers here with another list, in which linking is on.";
  const putShared = (plan: object) =>
    owner.send("PUT /dashboard/api/roles", { body: { ...place, ...rules, pid: global, ...plan } });
  for (const [other, isTold] of [
    ["on", true],
    ["paused", false],
  ] as const) {
    dataOf(await putShared({ state: other }));
    expect((await page()).includes(taken)).toBe(isTold);
  }
  dataOf(await owner.send("DELETE /dashboard/api/roles", { body: { ...place, pid: global } }));
  dataOf(await put({ state: "on" }));
  expect(await stateOf(ofGuild)).toMatchObject({ rules: "on", pausedFor: null });
  const figures = /Links1Members40RulesOnBot may manage rolesYesPanelNot postedLogNone/;
  expect(await page()).toMatch(figures);
  expect(await page()).not.toContain("First steps");
  dataOf(await put({ state: "paused" }));
  expect(await stateOf(ofGuild)).toMatchObject({ rules: "paused", pausedFor: null });
  expect(await page()).toMatch(/RulesPaused.*rules of Rook & Bishop were paused by you at/);
  dataOf(await owner.send("DELETE /dashboard/api/roles", { body: place }));
  const stranger = await signInOwner(server, "100005");
  expectUnknown(await stranger.send(`GET /dashboard/api/communities/${ofGuild}`));
});

test("scopes are listed with their links, keys and settings", async () => {
  const owner = await signInOwner(server, "100001");
  const pid = expect.stringMatching(/^pid_/);
  expect(await scopesOf(owner)).toEqual([
    { pid, scope: "global", guildId: null, name: null, links: 3, keys: 1, settings: none },
    { pid, scope: "guild", guildId: guild, name: "Rook & Bishop", links: 1, keys: 1, settings: none },
  ]);
  const newcomer = await signInOwner(server, "100005");
  expect(await scopesOf(newcomer)).toEqual([]);
  await createKey(newcomer);
  expect(await scopesOf(newcomer)).toMatchObject([{ scope: "global", links: 0, keys: 1 }]);
});

test("a verification flow for a guild shows the name of the guild", async () => {
  const { ofGuild } = await club();
  const { text } = await server.newBrowser().get(`/verify?pid=${ofGuild}`);
  expect(withoutIsolation(text)).toContain("Request from <strong>Rook &amp; Bishop</strong></p>");
  expect(text).not.toContain("Rook Club");
});

test("settings of a scope are shown to users who verify", async () => {
  const owner = await signInOwner(server, "100003");
  const { token } = await createKey(owner, { access: "full" });
  const pid = await pidOf(owner);
  const settings = {
    displayName: "The <Rook> Club",
    supportUrl: "https://help.example/a?b=1&c=2",
    doneText: "Go to #welcome now.",
  };
  const { displayName, ...rest } = settings;
  await owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: { displayName } });
  const { status, body } = await owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: rest });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ scope: { pid, settings } });
  const created = await server.send("POST /v2/sessions", { key: token, body: { clientId: "client" } });
  const browser = server.newBrowser();
  const page = await browser.walk(`?sid=${textOf(created.body.data?.sid)}`, "100003", "2");
  expect(page.text).toContain("The &lt;Rook&gt; Club");
  expect(page.text).toContain('href="https://help.example/a?b=1&amp;c=2"');
  expect(page.text).not.toContain("chat:100003");
  const done = await browser.post("/verify/confirm", formOf(page));
  expect(done.text).toContain("Go to #welcome now.");
  const own = await server.signIn("100003", server.newBrowser(), "me");
  expect(withoutIsolation((await own.get("/me")).text)).toContain("<h3>The &lt;Rook&gt; Club</h3>");
  const cleared = await owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: none });
  expect(cleared.body.data).toMatchObject({ scope: { settings: none } });
});

test.each<[string, unknown]>([
  ["displayName", "x".repeat(81)],
  ["displayName", "a\u202Eb"],
  ["displayName", "a\u2060b"],
  ["displayName", " "],
  ["displayName", 7],
  ["supportUrl", "http://help.example/"],
  ["supportUrl", "https://@help.example/"],
  ["supportUrl", "https://help.example/\u202Emoc"],
  ["supportUrl", `https://help.example/${"x".repeat(2_000)}`],
  ["doneText", "x".repeat(301)],
])("settings refuse the %s %j", async (name, value) => {
  const { owner, global } = await club();
  const path = `PATCH /dashboard/api/scopes/${global}` as const;
  expectInvalid(await owner.send(path, { body: { [name]: value } }), name);
});

test("the account page names who asks players in the shared list, and refuses a long name at its field", async () => {
  const owner = await signInOwner(server, "100006");
  await createKey(owner);
  const pid = await pidOf(owner);
  const asks = async () => withoutIsolation((await server.newBrowser().get(`/verify?pid=${pid}`)).text);
  const name = async (displayName: string) => {
    const { csrf = "" } = formOf(await owner.browser.get("/dashboard/account"));
    return owner.browser.post("/dashboard/account/name", { csrf, displayName });
  };
  expect(await asks()).toContain("Request from <strong>User 6</strong>");
  const refused = await name("x".repeat(81));
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("x".repeat(81))]);
  expect((await name(" Makers ")).headers.location).toBe("/dashboard/account?done=said");
  expect(await asks()).toContain("Request from <strong>Makers</strong>");
  await name("");
  expect(await asks()).toContain("Request from <strong>User 6</strong>");
});

test("the page of a community lists the redirect origins of active keys only", async () => {
  const owner = await signInOwner(server, "100005");
  const { key } = await createKey(owner, { redirectOrigins: ["https://club.example"] });
  const pid = await pidOf(owner);
  const isListed = async () => {
    const { text } = await owner.browser.get(`/dashboard/communities/${pid}`);
    return text.includes("<li>https://club.example</li>");
  };
  expect(await isListed()).toBe(true);
  await owner.send(`PATCH /dashboard/api/keys/${textOf(key.id)}`, { body: { status: "disabled" } });
  expect(await isListed()).toBe(false);
});

test("the alts page says to a free account that it is part of Premium, and takes no review", async () => {
  const { owner, global: pid } = await club();
  const shown = await owner.browser.get("/dashboard/alts?id=100002");
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("part of Premium accounts")]);
  const { csrf = "" } = formOf(shown);
  const review = { csrf, pid, chatId: "100002", otherChatId: "100003", verdict: "same" };
  expect((await owner.browser.post("/dashboard/alts/reviews", review)).status).toBe(403);
});

test("links are listed by latest verification, in pages, with profiles", async () => {
  const { list, global } = await club();
  const all = await list({ pid: global });
  expect(all.links.map(({ chatId }) => chatId)).toEqual(["100002", "100003", "100004"]);
  expect(all.next).toBe(null);
  expect(all.links[0]).toEqual({
    chatId: "100002",
    gameId: "1",
    linkVersion: 1,
    lastVerifiedAt: expect.stringMatching(/Z$/),
    chat: expect.objectContaining({ id: "100002", displayName: "User 2", guild: null }),
    game: expect.objectContaining({ id: "1", displayName: "Player 1" }),
  });
  const first = await list({ pid: global, limit: "2" });
  const second = await list({ pid: global, limit: "2", cursor: textOf(first.next) });
  expect([...first.links, ...second.links]).toEqual(all.links);
  expect(second.next).toBe(null);
});

test("links are found by chat ID, game ID and user name", async () => {
  const { list, global, ofGuild } = await club();
  const found = async (q: string, pid = global) => (await list({ pid, q })).links.map(({ chatId }) => chatId);
  const { chat, game } = (await list({ pid: global, q: "100004" })).links[0] as Record<string, Json>;
  expect(await found("100004")).toEqual(["100004"]);
  expect(await found("100009")).toEqual([]);
  expect(await found("1")).toEqual(["100002", "100003"]);
  expect(await found(textOf(chat?.username))).toEqual(["100004"]);
  expect(await found(`@${textOf(chat?.username).toUpperCase()}`)).toEqual(["100004"]);
  expect(await found(textOf(game?.username))).toEqual(["100004"]);
  expect(await found("nobody of that name")).toEqual([]);
  expect(await found("100002", ofGuild)).toEqual(["100002"]);
  expect(await found("3", ofGuild)).toEqual(["100002"]);
  const page = await list({ pid: global, q: "1", limit: "1" });
  const next = await list({ pid: global, q: "1", limit: "1", cursor: textOf(page.next) });
  expect([...page.links, ...next.links].map(({ chatId }) => chatId)).toEqual(["100002", "100003"]);
  expect(next.next).toBe(null);
});

test("a search by user name fails if nobody is found while the chat platform is down", async () => {
  const { owner, list, global } = await club();
  const { chat, game } = (await list({ pid: global, q: "100004" })).links[0] as Record<string, Json>;
  await server.platform.fail({ mode: "down", platform: "chat" });
  const everywhere = await owner.browser.get(`/dashboard/links?q=${textOf(game?.username)}`);
  const name = textOf(chat?.username);
  const search = () => owner.send(`GET /dashboard/api/links?pid=${global}&q=${encodeURIComponent(name)}`);
  const refused = await search();
  const page = await owner.browser.get(`/dashboard/events?user=${encodeURIComponent(name)}`);
  const found = await list({ pid: global, q: textOf(game?.username) });
  await server.platform.recover();
  // The circuit breaker still refuses requests for a moment.
  await expect.poll(async () => (await search()).status, { timeout: 10_000 }).toBe(200);
  expect([refused.status, refused.body.error?.code]).toEqual([503, "INTERNAL_ERROR"]);
  expect(page.status).toBe(503);
  expect(found.links).toMatchObject([{ chatId: "100004" }]);
  // The list that cannot be searched hides nobody of another one.
  expect([everywhere.status, wordsOf(everywhere)]).toEqual([
    200,
    expect.stringContaining("does not answer."),
  ]);
  expect(everywhere.text).toContain("chatId=100004");
});

test("searching links and events for an invalid name finds nothing", async () => {
  const { owner, global } = await club();
  for (const text of ["@", "\0", ".", "..", `${"x".repeat(99)}🎮`, "🎮".repeat(101)]) {
    for (const [page, name] of [
      ["links", "q"],
      ["events", "user"],
    ] as const) {
      const query = new URLSearchParams({ pid: global, [name]: text });
      const { status, text: shown } = await owner.browser.get(`/dashboard/${page}?${query}`);
      expect([status, page, shown.includes("100002")]).toEqual([200, page, false]);
    }
  }
});

test("links can be set and removed with a reason, and the audit log names the account and the linked user", async () => {
  const { owner, global, list } = await club();
  const user = { pid: global, chatId: "100005" };
  const [longest, tooLong] = ["x".repeat(500), "x".repeat(501)];
  const set = (gameId: string, more: object = {}) =>
    owner.send("PUT /dashboard/api/links", { body: { ...user, gameId, ...more } });
  expectInvalid(await set("2", { reason: tooLong }), "reason");
  const link = { chatId: "100005", gameId: "2", previousGameId: null, updated: true };
  expectData(await set("2", { reason: "Lost his phone" }), link);
  expect((await list({ pid: global })).links[0]).toMatchObject({ chatId: "100005", gameId: "2" });
  expectData(await set("3"), { ...link, gameId: "3", previousGameId: "2" });
  const remove = (reason: string) => owner.send("DELETE /dashboard/api/links", { body: { ...user, reason } });
  expectInvalid(await remove(tooLong), "reason");
  expectData(await remove(longest), { chatId: "100005", removedGameId: "3", deleted: true });
  expectRefusal(await remove(longest), 404, "LINK_NOT_FOUND", null);
  const entriesOf = async (chatId: string) =>
    dataOf(await owner.send(`GET /dashboard/api/audit?chatId=${chatId}`)).entries;
  const actor = { type: "account", id: "Rook Club" };
  expect(await entriesOf("100005")).toMatchObject([
    { action: "link.removed", actor, details: { chatId: "100005", removedGameId: "3", reason: longest } },
    { action: "link.set", actor, details: { chatId: "100005", gameId: "3", previousGameId: "2" } },
    { action: "link.set", actor, details: { chatId: "100005", gameId: "2", reason: "Lost his phone" } },
  ]);
  expect(await entriesOf("100009")).toEqual([]);
  expectInvalid(await owner.send("GET /dashboard/api/audit?chatId=x"), "chatId");
  const page = await owner.browser.get(`/dashboard/links/user?pid=${global}&chatId=100005`);
  expect(page.text).toContain("“Lost his phone”");
});

test("a removed link comes back as it was, unless its user removed it, or it has changed since", async () => {
  const { owner, global, list } = await club();
  const user = { pid: global, chatId: "100003" };
  const restore = (body: object = user) => owner.send("POST /dashboard/api/links/restore", { body });
  const notFound = [404, "LINK_NOT_FOUND", null] as const;
  expectRefusal(await restore(), ...notFound);
  const [before] = (await list({ pid: global, q: user.chatId })).links;
  dataOf(await owner.send("DELETE /dashboard/api/links", { body: user }));
  const { text } = await owner.browser.get(`/dashboard/links/user?pid=${global}&chatId=100003`);
  const linkVersion = Number(before?.linkVersion) + 2;
  expectData(await restore(), { link: { ...before, linkVersion } });
  const log = await owner.browser.get("/dashboard/audit?chatId=100003");
  expect(wordsOf(log)).toContain(", as it was before");
  expectRefusal(await restore(), ...notFound);
  expect(text).toContain("Undo: link them again");
  await owner.send("DELETE /dashboard/api/links", { body: user });
  const block = { pid: global, chatId: user.chatId, reason: null };
  await owner.send("PUT /dashboard/api/blocks", { body: block });
  expectConflict(await restore(), "blocked");
  const blocked = await owner.browser.get(`/dashboard/links/user?pid=${global}&chatId=100003`);
  expect(blocked.text).not.toContain("Undo: link them again");
  await owner.send("DELETE /dashboard/api/blocks", { body: block });
  await owner.send("PUT /dashboard/api/links", { body: { ...user, gameId: "2", reason: "Asked" } });
  await server.send("DELETE /v2/game", { key: clubKey, body: { chatId: user.chatId } });
  expectRefusal(await restore(), ...notFound);
  expectMissing(await restore({ pid: global }), "chatId");
});

test("the button that links a user again leads on when it is pressed twice, and not for another link", async () => {
  const { owner, global } = await club();
  const user = { pid: global, chatId: "100008" };
  await owner.send("PUT /dashboard/api/links", { body: { ...user, gameId: "3", reason: "Asked" } });
  dataOf(await owner.send("DELETE /dashboard/api/links", { body: user }));
  const page = await owner.browser.get(`/dashboard/links/user?pid=${global}&chatId=100008`);
  const press = async () => (await owner.browser.post("/dashboard/links/restore", formOf(page))).status;
  expect([await press(), await press()]).toEqual([303, 303]);
  await owner.send("PUT /dashboard/api/links", { body: { ...user, gameId: "2", reason: "Asked" } });
  expect(await press()).toBe(404);
});

test("the page of a user has the ages of both accounts, the user names, and when the user joined", async () => {
  const { owner, ofGuild } = await club();
  const { text } = await owner.browser.get(`/dashboard/links/user?pid=${ofGuild}&chatId=100002`);
  expect(text).toMatch(
    /@player_3.*Account since <time datetime="2019-05-01">.* \d+ years.*Banned on the game platform/s,
  );
  expect(text).toMatch(
    /@user_2.*Account since <time datetime="2020-01-01">.* \d+ years.*Joined the community on <time datetime="2024-01-01">/s,
  );
  const shared = await owner.browser.get(`/dashboard/links/user?chatId=100003`);
  expect(shared.text).not.toContain("Joined the community");
  expect(shared.text).not.toContain("Banned");
});

test("the audit log says from what to what a text changed, and its page filters by person, kind and day", async () => {
  const { owner, global } = await club();
  const line = `PATCH /dashboard/api/scopes/${global}` as const;
  for (const doneText of ["Off you go", "Well done"]) await owner.send(line, { body: { doneText } });
  const { entries } = dataOf(await owner.send("GET /dashboard/api/audit?limit=1&action=account.updated"));
  expect(listOf(entries)[0]?.details).toEqual({ doneText: "Well done", previousDoneText: "Off you go" });
  const changed = "message at the end from “Off you go” to “Well done”";
  const day = new Date().toISOString().slice(0, 10);
  const log = async (query: string) => (await owner.browser.get(`/dashboard/audit?${query}`)).text;
  for (const query of ["", "action=account.updated", "member=100001", `day=${day}`]) {
    expect(await log(query)).toContain(changed);
  }
  for (const query of ["action=key.", "member=100009", "day=2020-01-01"]) {
    expect(await log(query)).not.toContain(changed);
  }
});

test("links of a guild can only be set for members, but removed for anybody", async () => {
  const { owner, ofGuild } = await club();
  const body = { pid: ofGuild, chatId: "999999", gameId: "1" };
  expectForbidden(await owner.send("PUT /dashboard/api/links", { body }), "user_not_in_guild");
  expectRefusal(await owner.send("DELETE /dashboard/api/links", { body }), 404, "LINK_NOT_FOUND", null);
});

test("the keys of an account whose team no longer manages a guild learn nothing about its members", async () => {
  const refusal = [403, "FORBIDDEN", { reason: "not_guild_manager" }] as const;
  const query = `chatId=100002&guildId=${guild}`;
  expectRefusal(await server.send(`GET /v2/chat?${query}`, { key: formerKey }), ...refusal);
  expectRefusal(await server.send("GET /v2/events", { key: formerKey }), ...refusal);
  for (const key of exemptKeys)
    expectData(await server.send(`GET /v2/chat?${query}`, { key }), expect.objectContaining({ gameId: "3" }));
});

test("link requests with missing or invalid parameters are refused", async () => {
  const { owner, global } = await club();
  const put = (body: object) => owner.send("PUT /dashboard/api/links", { body: { pid: global, ...body } });
  expectMissing(await put({}), "chatId", "gameId");
  expectInvalid(await put({ chatId: "100005", gameId: "999999" }), "gameId");
  expectMissing(await owner.send("GET /dashboard/api/links"), "pid");
  for (const [name, value] of [
    ["limit", "101"],
    ["cursor", "x"],
    ["q", "x".repeat(101)],
  ] as const) {
    expectInvalid(await owner.send(`GET /dashboard/api/links?pid=${global}&${name}=${value}`), name);
  }
});

test("a free account reads nothing of likely alts, about which it could not decide", async () => {
  const { owner, ofGuild } = await club();
  for (const chatId of ["100007", "100008"]) {
    const browser = server.newBrowser();
    const asked = await browser.walk(`?pid=${ofGuild}&guildId=${guild}`, chatId, "4");
    expect((await browser.post("/verify/confirm", formOf(asked))).status).toBe(200);
  }
  const state = async () =>
    dataOf(await owner.send(`GET /dashboard/api/communities/${ofGuild}`)).community?.likelyAlts;
  await expect.poll(state).toBe(1);
  const page = await owner.browser.get(`/dashboard/communities/${ofGuild}`);
  expect(wordsOf(page)).toMatch(/Now.*Links\dMembers40/);
  expect(wordsOf(page)).not.toContain("Likely alts");
});
