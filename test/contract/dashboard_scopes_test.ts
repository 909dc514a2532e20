/**
 * A member of one community of an account learns nothing of the others, and changes nothing there. The test walks every
 * route of the dashboard, so a new one is walked too.
 */
import { dashboardRoutes } from "@accountlink/http-api";
import { beforeAll, expect, test } from "vitest";
import { listRoutes } from "../load/neighbours/requests.ts";
import { chatUsers, emptyGuild, gameUsers, guild, inGuilds } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import { dataOf, expectForbidden, expectInvalid } from "./contract_server.ts";
import {
  createKey,
  enterDashboard,
  type Owner,
  pagesFrom,
  pidOf,
  scopesOf,
  signInOwner,
} from "./dashboard.ts";
import { managedBy, useSiteServer, verified } from "./site_server.ts";

type Line = Parameters<Owner["send"]>[0];

const [ada, bob, cyd, dan] = ["100001", "100002", "100003", "100004"];
// So long that no other ID contains them by chance.
const [hidden, hiddenGame, otherGame] = ["300077300077", "775577557755", "776677667766"];

const hall = { name: "Hidden Hall", members: [{ chatId: hidden }, { chatId: ada, manager: true }] };

const server = useSiteServer(
  { ACCOUNTLINK_FREE_WINDOW: "0 seconds", ACCOUNTLINK_PREMIUM_WINDOW: "0 seconds" },
  (fixture) => ({
    accounts: [
      {
        name: "two",
        chatId: ada,
        tier: "premium",
        members: [
          { chatId: bob, role: "admin", scopes: [guild] },
          { chatId: cyd, role: "moderator", scopes: [guild] },
          { chatId: dan, role: "moderator", scopes: ["global", emptyGuild] },
        ],
      },
    ],
    platform: {
      ...inGuilds(managedBy([ada, bob], [verified])(fixture), ({ id }) => (id === emptyGuild ? hall : {})),
      chatUsers: [...chatUsers, { id: hidden, username: "hidden_77", displayName: "Hidden Person" }],
      gameUsers: [
        ...gameUsers,
        { id: hiddenGame, username: "hidden_game" },
        { id: otherGame, username: "hidden_other" },
      ],
    },
  }),
);
const { fixtures } = server;
fixtures.key({ account: "two", guildId: guild, links: { [ada]: "1", [bob]: "2" } });
fixtures.key({ account: "two", guildId: emptyGuild, links: { [hidden]: hiddenGame, [dan]: otherGame } });

let owner: Owner;
const ids = { own: "", other: "", key: "", webhook: "" };

/** The value of each parameter that a route may have. All of them name the other community. */
const values: Record<string, unknown> = {};

/** What only somebody who sees the other community or the account's keys can write. */
const names = [
  "Hidden Hall",
  "Hidden Person",
  "hidden_77",
  "hidden_game",
  "hidden_other",
  "hidden reason",
  "hidden.example",
  "Hidden bot",
];

beforeAll(async () => {
  ({ owner, pid: ids.own } = await enterDashboard(server, ada, guild));
  ids.other = await pidOf(owner, emptyGuild);
  const { id } = await createKey(owner, { name: "Hidden bot", scope: "guild", guildId: emptyGuild });
  ids.key = id;
  const place = { pid: ids.other, guildId: emptyGuild };
  const url = "https://hidden.example/hook";
  const hook = await owner.send("POST /dashboard/api/webhooks", {
    body: { name: "Hidden hook", url, scope: "guild", guildId: emptyGuild },
  });
  ids.webhook = textOf((dataOf(hook, 201).webhook as { id?: unknown } | undefined)?.id);
  const block = { pid: ids.other, chatId: "300078", reason: "hidden reason" };
  dataOf(await owner.send("PUT /dashboard/api/blocks", { body: block }));
  const rules = [{ roleId: "5", when: { is: "linked" } }];
  dataOf(
    await owner.send("PUT /dashboard/api/roles", { body: { ...place, rules, nickname: null, state: "on" } }),
  );
  const link = { pid: ids.other, chatId: hidden, gameId: "3" };
  dataOf(await owner.send("PUT /dashboard/api/links", { body: link }));
  dataOf(await owner.send("PUT /dashboard/api/links", { body: { ...link, gameId: hiddenGame } }));
  dataOf(await owner.send("PUT /dashboard/api/links", { body: { pid: ids.own, chatId: dan, gameId: "4" } }));
  Object.assign(values, {
    ...place,
    chatId: hidden,
    gameId: "5",
    otherChatId: "300079",
    verdict: "same_person",
    note: null,
    reason: null,
    rules: [],
    nickname: null,
    state: "paused",
    groupId: "9",
    channelId: emptyGuild,
    text: "Changed",
    displayName: "Changed",
    confirm: "Hidden Hall",
    name: "Changed",
    scope: "guild",
    role: "owner",
    account: "nobody",
    url: "https://changed.example/",
    keyId: ids.key,
    q: hidden,
    eventId: "evt_1",
    csv: "gameId\n9",
    since: "2026-01-01T00:00:00.000Z",
  });
});

/** Paths of the own community. The user of some of them is linked in the other community, too. */
const ownValues = () => ({
  ...values,
  pid: ids.own,
  guildId: guild,
  chatId: dan,
  q: dan,
  chat: dan,
  channelId: guild,
  confirm: "",
  keyId: "",
});

/** What the owner sees of the other community and of the account. */
const snapshot = async () => {
  const place = `pid=${ids.other}&guildId=${emptyGuild}`;
  const lines = [
    `/links?pid=${ids.other}`,
    `/blocks?pid=${ids.other}`,
    `/scopes/${ids.other}`,
    `/roles?${place}`,
    `/alts/reviews?pid=${ids.other}&chatId=${hidden}`,
    "/keys",
    "/webhooks",
    "/members",
  ];
  const found = [];
  for (const line of lines) found.push(dataOf(await owner.send(`GET /dashboard/api${line}` as Line)));
  // The times of the last use and of the last comparison change by themselves.
  return JSON.stringify(found, (key, value: unknown) =>
    ["lastUsedAt", "sweptAt", "sweep", "pending", "problems"].includes(key) ? null : value,
  );
};

const filled = (path: string): string =>
  path
    .replace(":pid", ids.other)
    .replace(":chatId", hidden)
    .replace(":eventId", "evt_1")
    .replace(":id", path.includes("webhooks") ? ids.webhook : ids.key)
    .replace(":account", "nobody")
    .replaceAll(/:\w+/g, "x");

const queryOf = (all: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(
    Object.entries(all).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  ).toString();

/** The routes after which nobody is signed in to the account any more. */
const leaving = new Set([
  "DELETE /dashboard/api/session",
  "POST /dashboard/sign-out",
  "POST /dashboard/account/end",
]);

/** What no answer about the own community names. */
const unseen = () => [ids.other, emptyGuild, hidden, hiddenGame, otherGame, ids.key];

const expectNothingOf = (where: string, text: string, more: ReadonlyArray<string> = []) =>
  expect([where, [...names, ...more].filter((name) => text.includes(name))]).toEqual([where, []]);

// An admin may use every route that a moderator may.
test("an admin of one community reads and changes nothing of another by JSON", async () => {
  const member = await signInOwner(server, bob);
  const before = await snapshot();
  for (const { method, path, source, role = "owner" } of dashboardRoutes) {
    const line = `${method} ${path}`;
    if (leaving.has(line)) continue;
    const at = filled(path);
    const asked = source === "body" ? at : `${at}?${queryOf(values)}`;
    const answer = await member.send(`${method} ${asked}` as Line, source === "body" ? { body: values } : {});
    const code = answer.body.error?.code;
    // Otherwise a route with a parameter that `values` lacks would not be walked.
    expect([line, code]).not.toEqual([line, "MISSING_PARAMETER"]);
    expectNothingOf(line, answer.text);
    if (role === "admin_of_all" || role === "owner") expectForbidden(answer, "role");
    const plain = await member.send(`${method} ${at}` as Line, source === "body" ? { body: {} } : {});
    expectNothingOf(line, plain.text, unseen());
    if (method === "GET") {
      const own = at.replace(ids.other, ids.own).replace(hidden, dan);
      expectNothingOf(line, (await member.send(`GET ${own}?${queryOf(ownValues())}` as Line)).text, unseen());
    }
  }
  expect(await snapshot()).toBe(before);
});

test.each([
  ["an admin", bob],
  ["a moderator", cyd],
])("%s of one community reads and changes nothing of another on the pages", async (role, chatId) => {
  const { browser } = await signInOwner(server, chatId);
  const before = await snapshot();
  const csrf = textOf(/name="csrf" value="([^"]+)"/.exec((await browser.get("/dashboard/links")).text)?.[1]);
  const lines = (await listRoutes()).filter((line) => / \/dashboard(?!\/api)/.test(line));
  expect(lines.length).toBeGreaterThan(50);
  const statuses: Array<number> = [];
  for (const line of lines) {
    const [method, path = ""] = line.split(" ");
    if (leaving.has(line) || /sign-in|callback|signed-out|\.css|\.js/.test(path)) continue;
    const at = filled(path);
    if (method === "GET") {
      expectNothingOf(line, (await browser.get(`${at}?${queryOf(values)}`)).text);
      expectNothingOf(line, (await browser.get(at)).text, unseen());
      const own = at.replace(ids.other, ids.own).replace(hidden, dan);
      const answered = await browser.get(`${own}?${queryOf(ownValues())}`);
      expectNothingOf(line, answered.text, unseen());
      statuses.push(answered.status);
      continue;
    }
    const fields = { ...values, csrf, chat: hidden, game: "5", act: "panel", rank: "1", who: hidden };
    const form = Object.fromEntries(
      Object.entries<unknown>(fields).map(([name, value]) => [name, String(value)]),
    );
    expectNothingOf(line, (await browser.post(at, form)).text);
  }
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(role === "an admin" ? 14 : 6);
  expect(await snapshot()).toBe(before);
});

test("a member of one community sees what is of it, and the session tells which it is", async () => {
  const admin = await signInOwner(server, bob);
  const session = dataOf(await admin.send("GET /dashboard/api/session"));
  expect(session).toMatchObject({ role: "admin", scopes: [ids.own], keys: null });
  expect((await scopesOf(admin)).map(({ pid }) => pid)).toEqual([ids.own]);
  const links = dataOf(await admin.send(`GET /dashboard/api/links?pid=${ids.own}`));
  expect(listOf(links.links)).toHaveLength(3);
  const entries = listOf(dataOf(await admin.send("GET /dashboard/api/audit")).entries);
  expect(
    entries.map(({ action, details }) => [action, (details as { chatId?: string }).chatId]),
  ).toContainEqual(["link.set", dan]);
  const team = listOf(dataOf(await admin.send("GET /dashboard/api/members")).members);
  expect(team.map((member) => [member.chatId, member.scopes])).toEqual([
    [ada, null],
    [bob, [ids.own]],
    [cyd, [ids.own]],
  ]);
  const saved = await admin.send(`PATCH /dashboard/api/scopes/${ids.own}` as Line, {
    body: { doneText: "Welcome" },
  });
  expect(saved.status).toBe(200);
});

test.each([
  ["an admin", bob],
  ["a moderator", cyd],
])("every link that %s of one community sees leads to a page that the member may open", async (_, chatId) => {
  const { browser } = await signInOwner(server, chatId);
  const pages = await pagesFrom(browser, [
    "/dashboard",
    "/dashboard/links",
    `/dashboard/links/user?chatId=${dan}`,
  ]);
  expect(pages.size).toBeGreaterThan(10);
  for (const [address, text] of pages) expect([address, /\d keys?</.test(text)]).toEqual([address, false]);
});

test("the roles page of an admin opens, and tells nothing of another list whose rules are on there", async () => {
  const shared = (await scopesOf(owner)).find(({ scope }) => textOf(scope ?? "") === "global");
  const place = { pid: textOf(shared?.pid), guildId: guild };
  const plan = { rules: [], nickname: null, state: "on" };
  dataOf(await owner.send("PUT /dashboard/api/roles", { body: { ...place, ...plan } }));
  const admin = await signInOwner(server, bob);
  const { status, text } = await admin.browser.get(`/dashboard/communities/${ids.own}/roles`);
  expect([status, text.includes("The rules of another account are on")]).toEqual([200, true]);
  expectNothingOf("the roles page", text, [...unseen(), place.pid]);
  dataOf(await owner.send("DELETE /dashboard/api/roles", { body: place }));
});

test("an owner chooses of which communities a member is, and an owner is of all", async () => {
  const invite = (body: object) => owner.send("POST /dashboard/api/members", { body });
  const patch = (body: object) => owner.send("PATCH /dashboard/api/members/100031", { body });
  const added = dataOf(await invite({ chatId: "100031", role: "moderator", scopes: [ids.own] }), 201);
  expect(added.member).toMatchObject({ role: "moderator", scopes: [ids.own] });
  for (const scopes of [[], ["pid_0000000000000000"], [ids.own, "x"], "all", [1]])
    expectInvalid(await patch({ scopes }), "scopes");
  expectInvalid(await patch({ role: "owner", scopes: [ids.own] }), "scopes");
  expect(dataOf(await patch({ scopes: [ids.other, ids.own] })).member).toMatchObject({
    role: "moderator",
    scopes: [ids.other, ids.own].toSorted(),
  });
  expect(dataOf(await patch({ role: "admin" })).member).toMatchObject({
    role: "admin",
    scopes: { length: 2 },
  });
  expect(dataOf(await patch({ scopes: null })).member).toMatchObject({ role: "admin", scopes: null });
  dataOf(await patch({ scopes: [ids.own] }));
  expect(dataOf(await patch({ role: "owner" })).member).toMatchObject({ role: "owner", scopes: null });
  expectInvalid(await patch({ scopes: [ids.own] }), "scopes");
  const entries = listOf(dataOf(await owner.send("GET /dashboard/api/audit?limit=100")).entries);
  const ofMember = entries.filter(({ details }) => (details as { chatId?: string }).chatId === "100031");
  expect(ofMember[0]?.details).toEqual({
    chatId: "100031",
    role: "owner",
    previousRole: "admin",
    scopes: null,
    previousScopes: ids.own,
  });
  expect(ofMember.at(-1)?.details).toEqual({ chatId: "100031", role: "moderator", scopes: ids.own });
  dataOf(await owner.send("DELETE /dashboard/api/members/100031"));
});

test("the form of an invitation and the team say of which communities a member is", async () => {
  const { browser } = owner;
  const { csrf = "" } = formOf(await browser.get("/dashboard/team"));
  const sent = { csrf, role: "moderator", scopes: ids.other };
  const none = await browser.post("/dashboard/team/add", {
    csrf,
    role: "moderator",
    of: "some",
    who: "100031",
  });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("Only these:")]);
  const asked = await browser.post("/dashboard/team/add", { ...sent, who: "100031" });
  expect(asked.text).toMatch(/as <strong>Moderator<\/strong> of Hidden Hall[^?]* alone\?/);
  const added = await browser.post("/dashboard/team/add", { ...sent, chatId: "100031" });
  expect([added.status, added.headers.location]).toEqual([303, "/dashboard/team?done=memberInvited"]);
  expect((await browser.get("/dashboard/team")).text).toMatch(/Moderator<\/strong> of Hidden Hall/);
  const listed = listOf(dataOf(await owner.send("GET /dashboard/api/members")).members);
  expect(listed.find((member) => textOf(member.chatId) === "100031")).toMatchObject({ scopes: [ids.other] });
  const change = { csrf, chatId: "100031", "role-100031": "moderator" };
  expect((await browser.post("/dashboard/team/role", { ...change, "of-100031": "some" })).status).toBe(400);
  const all = await browser.post("/dashboard/team/role", {
    ...change,
    "of-100031": "all",
    "scopes-100031": ids.other,
  });
  expect(all.status).toBe(303);
  const now = listOf(dataOf(await owner.send("GET /dashboard/api/members")).members);
  expect(now.find((member) => textOf(member.chatId) === "100031")).toMatchObject({ scopes: null });

  // A role from a form that was open while another owner chose communities keeps these.
  const { shown = "" } = formOf(await browser.get("/dashboard/team"));
  dataOf(await owner.send("PATCH /dashboard/api/members/100031", { body: { scopes: [ids.own] } }));
  const late = { ...change, shown, "role-100031": "admin", "of-100031": "all" };
  expect((await browser.post("/dashboard/team/role", late)).status).toBe(303);
  const after = dataOf(await owner.send("PATCH /dashboard/api/members/100031", { body: { role: "admin" } }));
  expect(after.member).toMatchObject({ role: "admin", scopes: [ids.own] });
  dataOf(await owner.send("DELETE /dashboard/api/members/100031"));
});
