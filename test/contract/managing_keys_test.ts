/** Keys with access `manage`, which call the dashboard's JSON for the communities of their scope. */
import { dashboardRoutes } from "@accountlink/http-api";
import { beforeAll, expect, test } from "vitest";
import { daysAgo, emptyGuild, guild, newToken } from "../support/fixtures.ts";
import { listOf, type RequestOptions, type Send, textOf } from "../support/http.ts";
import {
  checked,
  dataOf,
  expectForbidden,
  expectInvalid,
  expectMissing,
  expectRefusal,
  expectUnknown,
} from "./contract_server.ts";
import { createKey, documented, enterDashboard, scopesOf, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, bob, cyd] = ["100001", "100002", "100003"];
const powerful = { id: "8", name: "Boss", assignable: true, permissions: ["administrator" as const] };

/** The highest role of every member, who may give the roles below. */
const held = { id: "1", name: "Member", assignable: true };

const club = { tier: "premium", team: { [bob]: "admin" }, owner: "100040", roles: [powerful, held] } as const;
const server = useSiteServer({ ACCOUNTLINK_FREE_KEYS: "20" }, clubOf(ada, club));
const { fixtures, platform } = server;
fixtures.account({ name: "other", chatId: cyd });
const links = {
  100003: "3",
  100004: "4",
  100008: { gameId: "8", at: daysAgo(1), proof: "oauth" as const },
};
const key = fixtures.key({ account: "club", guildId: guild, access: "manage", tier: "premium", links });
const global = fixtures.key({ account: "club", access: "manage" });
const full = fixtures.key({ account: "club", guildId: guild, tier: "premium" });
const elsewhere = fixtures.key({ account: "other", access: "manage", links: { 100005: "5" } });
const limits = { perWindow: 2, windowMs: 60_000, daily: 100, verifyDaily: 100 };
const counted = fixtures.key({ account: "club", access: "manage", limits });
const exporting = fixtures.key({ account: "club", access: "manage", limits });
const local = fixtures.key({ account: "club", access: "manage", allowIps: ["203.0.113.9"] });

let check: Send;
beforeAll(async () => {
  check = await documented(checked(server.send));
});
type Line = Parameters<Send>[0];
const from = "198.18.77.1";
const send = (line: Line, options: RequestOptions = {}) => check(line, { key, from, ...options });

const managed = new Set(dashboardRoutes.filter(({ keyAccess }) => keyAccess?.includes("manage")));

const lineOf = ({ method, path }: (typeof dashboardRoutes)[number]) =>
  `${method} ${path.replace(/:\w+/g, "x")}` as Line;

test("a key that manages calls the routes of links, blocks, unlinked, alts, roles, channels, panel and its scope", () => {
  const names = new Set([...managed].map(({ path }) => path.split("/").slice(3).join("/")));
  expect([...names].toSorted()).toEqual([
    "alts",
    "alts/reviews",
    "blocks",
    "blocks/export",
    "blocks/import",
    "channels",
    "communities/:pid",
    "links",
    "links/restore",
    "panel",
    "roles",
    "roles/history",
    "roles/preview",
    "roles/put-back",
    "roles/ranks",
    "roles/sweep",
    "scopes/:pid",
    "unlinked",
  ]);
});

test("what a key asks of alts counts as such", () => {
  const ofAlts = [...managed].filter(({ path }) => path.startsWith("/dashboard/api/alts"));
  expect(new Set(ofAlts.map(({ group }) => group))).toEqual(new Set(["alts"]));
});

test("a file that a key gets has the headers of its limits", async () => {
  const { headers } = await send("GET /dashboard/api/blocks/export", { key: exporting });
  expect(headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "1" });
  expect(headers["ratelimit"]).toMatch(/^"second";r=1;t=\d+$/);
});

test("a key links, finds and unlinks without cookie, token, origin and pid, and the audit log names the key", async () => {
  const link = { chatId: "100006", gameId: "6", reason: "By hand" };
  const headers = { origin: "https://elsewhere.example" };
  dataOf(await send("PUT /dashboard/api/links", { body: link, headers }));
  const { links: found } = dataOf(await send("GET /dashboard/api/links?q=100006"));
  expect(found).toMatchObject([{ chatId: "100006", gameId: "6", chat: { username: "user_6" } }]);
  dataOf(await send("DELETE /dashboard/api/links", { body: { chatId: "100006" } }));
  const owner = await signInOwner(server, ada);
  const [entry] = listOf(dataOf(await owner.send("GET /dashboard/api/audit?chatId=100006")).entries);
  const id = key.split("_")[1];
  expect(entry).toMatchObject({
    action: "link.removed",
    actor: { type: "key", id },
    member: null,
    keyId: id,
  });
});

test("linking a proven account, or oneself, needs a reason by JSON too, of a member and of a key", async () => {
  const { owner, pid } = await enterDashboard(server, ada, guild);
  const line = "PUT /dashboard/api/links";
  const puts = [
    (body: object) => owner.send(line, { body: { ...body, pid } }),
    (body: object) => send(line, { body }),
  ];
  for (const put of puts) {
    for (const contested of [
      { chatId: "100009", gameId: "8" },
      { chatId: "100008", gameId: "9" },
      { chatId: ada, gameId: "9" },
    ]) {
      expectMissing(await put(contested), "reason");
      expectMissing(await put({ ...contested, reason: " " }), "reason");
    }
    expect(dataOf(await put({ chatId: "100008", gameId: "8" })).updated).toBe(false);
    dataOf(await put({ chatId: "100009", gameId: "8", reason: "A brother" }));
    dataOf(await put({ chatId: "100009", gameId: "8" }));
    dataOf(await put({ chatId: "100009", gameId: "9" }));
  }
  dataOf(await send("DELETE /dashboard/api/links", { body: { chatId: "100009" } }));
});

test("a key blocks and unblocks, and reads who has not linked", async () => {
  const { block } = dataOf(
    await send("PUT /dashboard/api/blocks", { body: { chatId: "100007", reason: "Spam" } }),
  );
  expect(block).toMatchObject({ chatId: "100007", reason: "Spam", member: null });
  expect(dataOf(await send("GET /dashboard/api/blocks")).blocks).toMatchObject([{ chatId: "100007" }]);
  const removed = await send("DELETE /dashboard/api/blocks", { body: { chatId: "100007" } });
  expect(dataOf(removed)).toEqual({ deleted: true });
  expect(dataOf(await send(`GET /dashboard/api/unlinked?guildId=${guild}`))).toMatchObject({ linked: 3 });
});

test("a key reads and changes the settings of its scope", async () => {
  const pid = textOf(
    dataOf(await send("POST /v2/sessions", { body: { clientId: "c", guildId: guild } }), 201).pid,
  );
  const set = await send(`PATCH /dashboard/api/scopes/${pid}`, { body: { doneText: "Welcome" } });
  expect(dataOf(set).scope).toMatchObject({ pid, guildId: guild, settings: { doneText: "Welcome" } });
  expect(dataOf(await send(`GET /dashboard/api/scopes/${pid}`))).toEqual(dataOf(set));
  const { community } = dataOf(await send(`GET /dashboard/api/communities/${pid}`));
  expect(community).toMatchObject({ pid, guildId: guild, bot: true, settings: { doneText: "Welcome" } });
});

test("a key stores, previews and deletes the plan of its guild, with the roles that its team may give", async () => {
  const rules = (roleId: string) => ({
    guildId: guild,
    rules: [{ roleId, when: { is: "linked" } }],
    nickname: null,
  });
  const put = (roleId: string) =>
    send("PUT /dashboard/api/roles", { body: { ...rules(roleId), state: "paused" } });
  expect(dataOf(await put(verified.id)).plan).toMatchObject({
    guildId: guild,
    rules: [{ roleId: verified.id }],
  });
  expectInvalid(await put(powerful.id), "rules");
  const named = { guildId: guild, chatId: "100003" };
  expect(dataOf(await send("POST /dashboard/api/roles/preview", { body: named }))).toMatchObject({
    add: [verified.id],
  });
  expect(dataOf(await send(`GET /dashboard/api/roles?guildId=${guild}`)).plan).toMatchObject({
    rules: [{ roleId: verified.id }],
  });
  const { channels } = dataOf(await send(`GET /dashboard/api/channels?guildId=${guild}`));
  const [channel] = listOf(channels);
  const panel = { guildId: guild, channelId: channel?.id };
  expect(dataOf(await send("POST /dashboard/api/panel", { body: panel }))).toEqual({
    messageId: expect.any(String),
  });
  expect(dataOf(await send("DELETE /dashboard/api/roles", { body: { guildId: guild } }))).toEqual({
    deleted: true,
  });
});

test("a key reads the queue of alts, and reviews pairs, if it is Premium", async () => {
  const pair = { chatId: "100003", otherChatId: "100004" };
  expect(dataOf(await send("GET /dashboard/api/alts"))).toEqual({ links: [], next: null });
  const { review } = dataOf(
    await send("PUT /dashboard/api/alts/reviews", { body: { ...pair, verdict: "same", note: "Said so" } }),
  );
  expect(review).toMatchObject({ ...pair, verdict: "same", note: "Said so", keyId: key.split("_")[1] });
  expect(dataOf(await send("GET /dashboard/api/alts/reviews?chatId=100004")).reviews).toMatchObject([
    { chatId: "100004", otherChatId: "100003" },
  ]);
  expect(dataOf(await send("DELETE /dashboard/api/alts/reviews", { body: pair }))).toEqual({
    ...pair,
    deleted: true,
  });
  expectInvalid(
    await send("PUT /dashboard/api/alts/reviews", {
      body: { ...pair, otherChatId: "100003", verdict: "same" },
    }),
    "otherChatId",
  );
  expectRefusal(await send("GET /dashboard/api/alts", { key: elsewhere }), 403, "PREMIUM_REQUIRED", null);
});

test("members review pairs by JSON as they do on the page, but not themselves", async () => {
  const admin = await signInOwner(server, bob);
  const { owner, pid } = await enterDashboard(server, ada, guild);
  const body = { pid, chatId: bob, otherChatId: "100005", verdict: "different" };
  expectInvalid(await admin.send("PUT /dashboard/api/alts/reviews", { body }), "otherChatId");
  const { review } = dataOf(await owner.send("PUT /dashboard/api/alts/reviews", { body }));
  expect(review).toMatchObject({ chatId: bob, verdict: "different", keyId: null });
});

test("a key may do what a full key may, in v1 and v2", async () => {
  const lines: ReadonlyArray<Line> = [
    `GET /v2/chat?chatId=100003&guildId=${guild}`,
    "GET /v2/events",
    `GET /api/v1/public/chat-to-game?chatId=100003&guildId=${guild}`,
  ];
  for (const line of lines) {
    const answers = await Promise.all([key, full].map((each) => server.send(line, { key: each, from })));
    expect([line, answers[0]?.status]).toEqual([line, answers[1]?.status]);
  }
  const session = { clientId: "c", gameId: "3", guildId: guild };
  expect((await send("POST /v2/sessions", { body: session })).status).toBe(201);
});

test("account, members, keys, webhooks and deletions of data are refused to every key", async () => {
  const others = dashboardRoutes.filter((route) => !managed.has(route));
  expect(others.map(({ path }) => path)).toContain("/dashboard/api/webhooks/:id");
  for (const route of others) {
    expectForbidden(await send(lineOf(route), route.source === "body" ? { body: {} } : {}), "key_access");
  }
});

test("keys of another access are refused on every route, before their parameters", async () => {
  for (const route of managed) {
    expectForbidden(
      await send(lineOf(route), { key: full, ...(route.source === "body" && { body: {} }) }),
      "key_access",
    );
  }
});

test("a scope of another key is as if it weren't there", async () => {
  const owner = await signInOwner(server, ada);
  const pids = (await scopesOf(owner)).map(({ pid }) => textOf(pid));
  const [pid = "", own = ""] = pids;
  for (const each of [pid, "pid_0000000000000000", "x"]) {
    const unknown = async (line: Line, body?: object) => expectUnknown(await send(line, body && { body }));
    await unknown(`GET /dashboard/api/links?pid=${each}`);
    await unknown(`GET /dashboard/api/scopes/${each}`);
    await unknown(`PATCH /dashboard/api/scopes/${each}`, { doneText: "Hi" });
    await unknown("PUT /dashboard/api/links", { pid: each, chatId: "100006", gameId: "6" });
    await unknown("PUT /dashboard/api/blocks", { pid: each, chatId: "100006" });
    await unknown(`GET /dashboard/api/roles?pid=${each}&guildId=${guild}`);
    await unknown(`GET /dashboard/api/alts?pid=${each}`);
  }
  expect((await send(`GET /dashboard/api/links?pid=${own}`)).status).toBe(200);
  expect((await send(`GET /dashboard/api/links?pid=${pid}`, { key: global })).status).toBe(200);
});

test("a guild's key is for its guild alone, and a global key for the guilds that its team manages", async () => {
  for (const name of ["unlinked", "roles", "channels"]) {
    expectForbidden(await send(`GET /dashboard/api/${name}?guildId=${emptyGuild}`), "wrong_guild");
    expectMissing(await send(`GET /dashboard/api/${name}`), "guildId");
  }
  expect((await send(`GET /dashboard/api/roles?guildId=${guild}`, { key: global })).status).toBe(200);
  expectForbidden(
    await send(`GET /dashboard/api/roles?guildId=${guild}`, { key: elsewhere }),
    "not_guild_manager",
  );
});

test("a missing, wrong or disallowed key is refused, and parameters are checked", async () => {
  expectRefusal(await send("GET /dashboard/api/links", { key: newToken() }), 401, "INVALID_API_KEY", null);
  const headers = { authorization: "Basic YTpi" };
  expectRefusal(
    await server.send("GET /dashboard/api/links", { from, headers }),
    401,
    "INVALID_SESSION",
    null,
  );
  expectForbidden(await send("GET /dashboard/api/links", { key: local }), "ip_not_allowed");
  expectInvalid(await send("GET /dashboard/api/links?limit=0"), "limit");
  expectMissing(await send("PUT /dashboard/api/links", { body: {} }), "chatId", "gameId");
  expectRefusal(
    await send("PUT /dashboard/api/links", { body: "[]" }),
    400,
    "INVALID_BODY",
    expect.anything(),
  );
});

test("the limits of the key count its requests, also refused ones, and the answers tell them", async () => {
  const first = await send("GET /dashboard/api/links", { key: counted });
  expect(first.headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "1" });
  expect(first.body.meta).toMatchObject({
    tier: "premium",
    rateLimit: { limit: 2, scope: "api_key", bucket: "second" },
  });
  expectForbidden(await send("GET /dashboard/api/keys", { key: counted }), "key_access");
  const over = await send("GET /dashboard/api/links", { key: counted });
  expectRefusal(over, 429, "RATE_LIMITED", { bucket: "second" });
});

test("a platform that is down is no answer", async () => {
  await platform.fail({ mode: "down", platform: "chat", status: 500 });
  const answer = await send(`GET /dashboard/api/channels?guildId=${guild}`);
  await platform.recover();
  expectRefusal(answer, 503, "INTERNAL_ERROR", null);
});

test("only owners make, rotate and choose keys that manage, and a revoked one ends at once", async () => {
  const [owner, admin] = [await signInOwner(server, ada), await signInOwner(server, bob)];
  const { token, id, key: made } = await createKey(owner, { access: "manage" });
  expect(made).toMatchObject({ access: "manage" });
  expect((await send("GET /dashboard/api/links", { key: token })).status).toBe(200);
  const body = { name: "Bot", scope: "global", access: "manage" };
  expectForbidden(await admin.send("POST /dashboard/api/keys", { body }), "role");
  const { id: plain } = await createKey(admin);
  expectForbidden(
    await admin.send(`PATCH /dashboard/api/keys/${plain}`, { body: { access: "manage" } }),
    "role",
  );
  expectForbidden(await admin.send(`POST /dashboard/api/keys/${id}/rotate`, { body: {} }), "role");
  const page = async (browser: typeof admin.browser) =>
    (await browser.get("/dashboard/keys/new")).text.includes('value="manage"');
  expect([await page(owner.browser), await page(admin.browser)]).toEqual([true, false]);
  dataOf(await owner.send(`DELETE /dashboard/api/keys/${id}`));
  expectRefusal(await send("GET /dashboard/api/links", { key: token }), 401, "INVALID_API_KEY", null);
});
