/** Role plans: the dashboard's JSON API and `POST /v2/members/sync`. */
import { nothingChosen } from "@accountlink/core/communities";
import { expect, test } from "vitest";
import { botlessGuild, emptyGuild, guild, stranger } from "../support/fixtures.ts";
import { formOf, wordsOf } from "../support/flow_browser.ts";
import { type Answer, type Json, textOf } from "../support/http.ts";
import {
  expectConflict,
  expectData,
  expectForbidden,
  expectInvalid,
  expectMissing,
  expectRefusal,
  expectUnknown,
} from "./contract_server.ts";
import { scopesOf, signInOwner } from "./dashboard.ts";
import { exportOf, managedBy, useSiteServer } from "./site_server.ts";

const [ada, bob, cyd, dan, eve] = ["100001", "100002", "100003", "100004", "100005"];
const [member, linked, chief, admin] = ["1", "2", "3", "9"];

const guildRoles = [
  { id: admin, name: "Admin", assignable: false },
  { id: chief, name: "Chief", assignable: true },
  { id: linked, name: "Linked", assignable: true },
  { id: member, name: "Member", assignable: true },
];

const ranked = "700000000000000055";

/** A guild of bob. Ada manages it with the role 12, and may not pass on Manage Webhooks; dan has no role there. */
const rankedGuild = {
  id: ranked,
  owner: bob,
  members: [
    { chatId: bob, manager: true },
    { chatId: ada, manager: true, roles: [{ id: "12", name: "Manager" }] },
    { chatId: dan, manager: true },
  ],
  roles: [
    { id: "10", name: "Fan", position: 1 },
    { id: "11", name: "Hook", position: 2, permissions: ["manage_webhooks"] },
    { id: "12", name: "Manager", position: 3, permissions: ["manage_roles"] },
    { id: "13", name: "Chief", position: 4, permissions: ["administrator"] },
    { id: "14", name: "Guard", position: 2, permissions: ["manage_roles", "manage_server"] },
  ],
};

const ranks = [
  { rank: 1, name: "Fan" },
  { rank: 255, name: "Chief" },
];

/**
 * Ada and bob each own an account, and both manage the guild. In ada's account, cyd is a moderator and dan an admin.
 */
const server = useSiteServer({}, (fixture) => {
  const { platform } = managedBy([ada, bob], guildRoles)(fixture);
  return {
    platform: {
      guilds: [...platform.guilds, rankedGuild],
      gameGroups: [{ id: "3", name: "Guild", ranks: ranks.toReversed() }],
    },
  };
});

const { fixtures, send } = server;
const team = { [cyd]: "moderator", [dan]: "admin" } as const;
fixtures.account({ name: "club", chatId: ada, tier: "premium", team });
fixtures.account({ name: "rival", chatId: bob });
const links = { [dan]: "2", [eve]: "1" };
const key = fixtures.key({ account: "club", guildId: guild, tier: "premium", links });
const globalKey = fixtures.key({ account: "club" });
const otherKey = fixtures.key({ account: "rival", guildId: guild });
fixtures.key({ account: "rival" });

const settings = {
  rules: [
    { roleId: linked, when: { is: "linked" }, nickname: null },
    { roleId: chief, when: { is: "group", groupId: "3", minRank: 255, maxRank: 255 }, nickname: null },
  ],
  nickname: "{game.username} ({chat.username})",
  state: "on",
};

const noPlan = {
  rules: [],
  nickname: null,
  nicknameGroupId: null,
  bypassRoleIds: [],
  nicknameBypassRoleIds: [],
  unlinked: "remove",
  ...nothingChosen,
  status: { state: "paused", pending: 0, sweptAt: null, sweep: null, problems: [] },
};

/** Signs in a chat user, and returns functions that send requests about the role plan of a guild. */
const rolesOf = async (chatId = ada, guildId = guild, scope = guildId) => {
  const owner = await signInOwner(server, chatId);
  const found = (await scopesOf(owner)).find((each) => textOf(each.guildId ?? "global") === scope);
  const pid = textOf(found?.pid ?? "pid_0123456789abcdefghij");
  const place = { pid, guildId };
  return {
    owner,
    pid,
    get: () => owner.send(`GET /dashboard/api/roles?pid=${pid}&guildId=${guildId}`),
    put: (change: object = {}) =>
      owner.send("PUT /dashboard/api/roles", { body: { ...place, ...settings, ...change } }),
    remove: () => owner.send("DELETE /dashboard/api/roles", { body: place }),
    preview: (of: string) =>
      owner.send("POST /dashboard/api/roles/preview", { body: { ...place, chatId: of } }),
    sweep: () => owner.send("POST /dashboard/api/roles/sweep", { body: place }),
  };
};

const sync = (chatId: string, chosen = key, guildId = guild) =>
  send("POST /v2/members/sync", { key: chosen, body: { chatId, guildId } });

/** The roles and the nickname of a member, as lookups show them. */
const shown = async (chatId: string) => {
  const { body } = await send(`GET /v2/chat?chatId=${chatId}&guildId=${guild}&resolved=true`, { key });
  const of = body.data?.resolved?.chat?.guild;
  const roles = of?.roles as unknown as ReadonlyArray<Json> | undefined;
  return [roles?.map(({ id }) => textOf(id)), of?.nickname];
};

test("people ask for at most 4 sweeps of a plan in an hour, beside those that a change of the plan starts", async () => {
  const { owner, pid, get, put, sweep, remove } = await rolesOf(ada, ranked, "global");
  expectUnknown(await sweep());
  const named = (nickname: string | null) => put({ rules: [], nickname, state: "on" });
  const names = ["{game.username}", "{game.displayName}"];
  const [one = ""] = names;
  const expectOn = (answer: Answer) =>
    expect([answer.status, answer.body.data?.plan]).toMatchObject([200, { status: { state: "on" } }]);
  for (const name of [...names, ...names, ...names]) expectOn(await named(name));
  for (let asked = 0; asked < 4; asked++) expectOn(await sweep());
  const { status: progress } = (await get()).body.data?.plan ?? {};
  expect(progress?.sweep ?? progress?.sweptAt).toBeTruthy();
  const refused = await sweep();
  expectRefusal(refused, 429, "RATE_LIMITED", { bucket: "sweeps" });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3_000);
  const pressed = { csrf: owner.csrfToken, guildId: ranked, act: "sweep" };
  const page = wordsOf(await owner.browser.post(`/dashboard/communities/${pid}/roles`, pressed));
  expect(page).toMatch(/Roles and nicknames.* 4 comparisons of a community an hour are allowed\. Try again/);
  for (let changes = 6; changes < 60; changes++) await named(names[changes % 2] ?? one);
  expectRefusal(await named(one), 429, "RATE_LIMITED", { bucket: "sweeps" });
  expect((await put({ rules: [], nickname: one, state: "paused" })).status).toBe(200);
  await remove();
});

test("a rule names only roles that the member who saves the plan may give", async () => {
  const put = async (owner: string, roleId: string) =>
    (await rolesOf(owner, ranked, "global")).put({
      rules: [{ roleId, when: { is: "linked" } }],
      nickname: null,
      state: "paused",
    });
  expectInvalid(await put(ada, "13"), "rules");
  expectInvalid(await put(dan, "10"), "rules");
  const statuses: Array<unknown> = [];
  for (const roleId of ["13", "12", "11", "14", "10"]) {
    statuses.push([roleId, (await put(ada, roleId)).status, (await put(bob, roleId)).status]);
  }
  expect(statuses).toEqual([
    ["13", 400, 200],
    ["12", 400, 200],
    ["11", 400, 200],
    ["14", 200, 200],
    ["10", 200, 200],
  ]);
  // Who may not give a role can still pause its rules.
  expect((await put(dan, "10")).status).toBe(200);
  expectInvalid(await put(dan, "14"), "rules");
});

test("a role plan is stored, shown, logged and deleted", async () => {
  const { owner, pid, get, put, remove } = await rolesOf();
  expectData(await get(), { plan: { pid, guildId: guild, ...noPlan }, guildRoles });
  const empty = await owner.send("PUT /dashboard/api/roles", { body: {} });
  expectMissing(empty, "pid", "guildId", "rules", "state");
  const stored = await put({ state: "paused", unknown: 1 });
  const { rules, nickname } = settings;
  const plan = { ...noPlan, pid, guildId: guild, rules, nickname };
  expectData(stored, { plan });
  expectData(await get(), { plan, guildRoles });
  const open = { roleId: linked, when: { is: "group", groupId: "3" } };
  const { body } = await put({ rules: [open], nickname: null, state: "paused" });
  const closed = { ...open, when: { ...open.when, minRank: null, maxRank: null }, nickname: null };
  expect(body.data?.plan).toMatchObject({ rules: [closed], nickname: null });
  expectData(await remove(), { deleted: true });
  expectData(await remove(), { deleted: false });
  const log = await owner.send("GET /dashboard/api/audit?limit=3");
  const signed = { actor: { type: "account", id: "club" }, member: ada };
  expect(log.body.data?.entries).toMatchObject([
    { action: "roles.deleted", details: { guildId: guild, state: "paused" }, ...signed },
    { action: "roles.updated", details: { guildId: guild, changed: "rules, nickname" }, ...signed },
    { action: "roles.updated", details: { guildId: guild, changed: "rules, nickname" }, ...signed },
  ]);
  const page = await owner.browser.get("/dashboard/audit");
  expect(page.text).toContain("changed the roles of Rook &amp; Bishop: gives now Linked, Chief");
});

const ruleWith = (when: object) => [{ roleId: linked, when }];
const allOf = (...others: ReadonlyArray<object>) =>
  ruleWith({ is: "all", of: [{ is: "linked" }, ...others] });

const valuesOf = (name: string, values: ReadonlyArray<unknown>) =>
  values.map((value): [string, unknown] => [name, value]);

test.each<[name: string, value: unknown]>([
  ...valuesOf("nickname", [7, "{game.name}", "Member", "x".repeat(101), "a\u202eb"]),
  ...valuesOf("bypassRoleIds", [admin, [3], ["77"], Array(11).fill(admin), [guild]]),
  ["rules", "all"],
  ["rules", [{ roleId: linked }]],
  ["rules", [{ roleId: "x", when: { is: "linked" } }]],
  ["rules", ruleWith({ is: "friends" })],
  ["rules", ruleWith({ is: "group" })],
  ["rules", ruleWith({ is: "group", groupId: "3", minRank: 2, maxRank: 1 })],
  ["rules", ruleWith({ is: "group", groupId: "3", minRank: "2" })],
  ["rules", [{ roleId: "77", when: { is: "linked" } }]],
  ["rules", [{ roleId: guild, when: { is: "linked" } }]],
  ["rules", Array.from({ length: 51 }, () => settings.rules[0])],
  ["rules", ruleWith({ is: "owner", item: "hat", itemId: "1" })],
  ["rules", ruleWith({ is: "owner", item: "badge" })],
  ["rules", ruleWith({ is: "age", minDays: 0 })],
  ["rules", ruleWith({ is: "age", minDays: "30" })],
  ["rules", ruleWith({ is: "unlinked", days: 366 })],
  ["rules", ruleWith({ is: "not", of: { is: "all", of: [{ is: "linked" }, { is: "proven" }] } })],
  ["rules", ruleWith({ is: "role", roleId: "77" })],
  ["rules", ruleWith({ is: "role", roleId: linked })],
  ["rules", allOf({ is: "not", of: { is: "role", roleId: linked } })],
  ["rules", allOf()],
  ["rules", allOf(...Array.from({ length: 5 }, () => ({ is: "linked" })))],
  ["rules", allOf({ is: "friends" })],
  ["rules", allOf({ is: "all", of: [{ is: "linked" }, { is: "proven" }] })],
  ["rules", [{ roleId: linked, when: { is: "linked" }, nickname: "Member" }]],
  ["rules", [{ roleId: linked, when: { is: "linked" }, nickname: 7 }]],
  ["nicknameGroupId", "x"],
  ["nicknameBypassRoleIds", ["77"]],
  ["nicknameBypassRoleIds", Array(11).fill(admin)],
  ...valuesOf("unlinked", ["take", true]),
  ["state", "off"],
  ["guildId", "12"],
])("a plan is refused with the %s %j", async (name, value) => {
  const { put } = await rolesOf();
  expectInvalid(await put({ [name]: value }), name);
});

test("a nickname with {group.role} needs a group", async () => {
  const { put, remove } = await rolesOf();
  const template = { rules: [], nickname: "[{group.role}] {game.username}", state: "paused" };
  expectInvalid(await put(template), "nicknameGroupId");
  const ofRule = { roleId: linked, when: { is: "linked" }, nickname: "[{group.role}] {game.username}" };
  expectInvalid(await put({ ...template, nickname: null, rules: [ofRule] }), "nicknameGroupId");
  const rest = { rules: [ofRule], nicknameGroupId: "3", nicknameBypassRoleIds: [chief], unlinked: "keep" };
  const { body } = await put({ ...template, ...rest, bypassRoleIds: [admin, member] });
  expect(body.data?.plan).toMatchObject({ ...rest, bypassRoleIds: [admin, member] });
  await remove();
});

test("the ranks of a group are listed, lowest first", async () => {
  const { owner } = await rolesOf();
  const ranksOf = (query: string) => owner.send(`GET /dashboard/api/roles/ranks${query}`);
  expectData(await ranksOf("?groupId=3"), { group: { id: "3", name: "Guild" }, ranks });
  for (const unknown of ["4", "x", "%2F"]) expectInvalid(await ranksOf(`?groupId=${unknown}`), "groupId");
  expectMissing(await ranksOf(""), "groupId");
});

test("a role plan can be read and changed only by managers of its guild, in a scope of their own account", async () => {
  const answersOf = (by: Awaited<ReturnType<typeof rolesOf>>) =>
    Promise.all([by.get(), by.put(), by.preview(eve), by.sweep()]);
  const answers = async (by: Awaited<ReturnType<typeof rolesOf>>, reason: string) => {
    for (const answer of await answersOf(by)) expectForbidden(answer, reason);
  };
  const none = await answersOf(await rolesOf(ada, guild, "none"));
  for (const answer of none) expectUnknown(answer);
  const [{ pid }, { owner: other }] = [await rolesOf(), await rolesOf(bob)];
  expectUnknown(await other.send(`GET /dashboard/api/roles?pid=${pid}&guildId=${guild}`));
  await answers(await rolesOf(ada, emptyGuild, guild), "wrong_guild");
  await answers(await rolesOf(ada, emptyGuild, "global"), "not_guild_manager");
  await answers(await rolesOf(ada, botlessGuild, "global"), "bot_not_in_guild");
  await answers(await rolesOf(dan), "not_guild_manager");
  await answers(await rolesOf(cyd), "role");
  expectForbidden(await (await rolesOf(dan)).remove(), "not_guild_manager");
  const { owner: stranded } = await rolesOf(dan);
  const page = await stranded.browser.get(`/dashboard/communities/${pid}/roles`);
  expect(page.status).toBe(403);
  expect(page.text).toContain("Only people who manage a community on the chat platform may see and change");
  expectData(await (await rolesOf(ada, botlessGuild, "global")).remove(), { deleted: false });
});

test("only one plan of a guild can be on, across all accounts", async () => {
  const [ours, theirs] = [await rolesOf(), await rolesOf(bob)];
  const harmless = { rules: [], nickname: null };
  expect((await ours.put(harmless)).status).toBe(200);
  // A refused plan starts no sweep, so it does not count as one.
  for (let time = 0; time < 5; time++) expectConflict(await theirs.put(harmless), "guild_has_plan");
  const { text } = await theirs.owner.browser.get(`/dashboard/communities/${theirs.pid}/roles`);
  expect(text).toContain("The rules of another account are on for this community.");
  expect(text).not.toContain("club");
  expect((await theirs.put({ state: "paused", remindAfterDays: 7 })).status).toBe(200);
  const kept = await theirs.owner.browser.get(`/dashboard/communities/${theirs.pid}/roles`);
  expect(kept.text).toContain("The log and the reminders of this list in this community are turned off too.");
  for (const { remove } of [theirs, ours]) await remove();
});

test("of two edits of the plan that both have read, one is stored and the other is told", async () => {
  const { owner, pid, get, put, remove } = await rolesOf();
  const read = async () => (await get()).body.data?.plan;
  const paused = { ...settings, state: "paused" };
  await put(paused);
  const address = `/dashboard/communities/${pid}/roles`;
  const save = async (page: Answer) =>
    owner.browser.post(address, {
      ...formOf(page),
      rows: "0",
      nickname: "{game.username}",
      act: "paused",
    });
  const opened = await owner.browser.get(address);
  const edited = await read();
  const both = await Promise.all(
    ["{game.username}", "{chat.username}"].map((nickname) => put({ ...paused, nickname, edited })),
  );
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  for (const refused of both.filter(({ status }) => status === 409)) expectConflict(refused, "plan_changed");
  const again = { ...paused, nickname: (await read())?.["nickname"], edited };
  // The first answer was lost, so that the program stores the plan again.
  expect((await put(again)).status).toBe(200);
  expect((await put({ ...paused, nickname: null, edited: await read() })).status).toBe(200);
  expectInvalid(await put({ ...paused, edited: "1" }), "edited");
  const late = await save(opened);
  expect(late.text).toContain("Somebody else has changed these rules since you opened the page.");
  for (const page of [late, opened]) expect((await save(page)).status).toBe(303);
  expect((await read())?.["nickname"]).toBe("{game.username}");
  await remove();
});

test("a preview shows what a role plan would change for a member, and changes nothing", async () => {
  const { put, preview, remove } = await rolesOf();
  const before = await shown(eve);
  await put({ state: "paused" });
  const because = (...holds: ReadonlyArray<boolean | null>) =>
    holds.map((each, rule) => ({ rule, holds: each }));
  await server.platform.fail({ mode: "down", platform: "game", under: "/game/api" });
  expect((await preview(dan)).body.data).toMatchObject({ add: [linked], because: because(true, null) });
  await server.platform.recover();
  await expect.poll(async () => (await preview(dan)).body.data?.because).toEqual(because(true, false));
  const change = { add: [linked, chief], remove: [], nickname: "player_1 (user_5)" };
  expectData(await preview(eve), { ...change, because: because(true, true) });
  const named = { add: [linked], remove: [], nickname: "player_2 (user_4)" };
  expectData(await preview(dan), { ...named, because: because(true, false) });
  expectData(await preview(ada), { add: [], remove: [], nickname: null, because: because(false, false) });
  expectForbidden(await preview(stranger), "user_not_in_guild");
  expect(await shown(eve)).toEqual(before);
  await remove();
});

test("rules ask for a role of the guild, for days without a link, and for the opposite of a condition", async () => {
  const { get, put, preview, remove, owner, pid } = await rolesOf();
  const rules = [
    { roleId: linked, when: { is: "not", of: { is: "group", groupId: "3", minRank: null, maxRank: null } } },
    {
      roleId: chief,
      when: { is: "all", of: [{ is: "linked" }, { is: "not", of: { is: "role", roleId: admin } }] },
    },
    { roleId: chief, when: { is: "unlinked", days: 365 } },
  ].map((rule) => ({ ...rule, nickname: null }));
  const { body } = await put({ rules, nickname: null, state: "paused" });
  expect(body.data?.plan).toMatchObject({ rules });
  const expected = { [eve]: [false, true, false], [dan]: [true, true, false], [ada]: [true, false, true] };
  for (const [chatId, holding] of Object.entries(expected)) {
    const because = holding.map((holds, rule) => ({ rule, holds }));
    expect((await preview(chatId)).body.data).toMatchObject({ because });
  }
  const address = `/dashboard/communities/${pid}/roles`;
  const page = await owner.browser.get(address);
  const text = wordsOf(page);
  expect(text).toContain("A member who is not in Guild gets Linked.");
  expect(text).toContain("A member who has linked and does not have the role Admin gets Chief.");
  const first = { "when-1": "role", "whether-1": "not", "has-1": admin, "role-1": linked, "parts-1": "1" };
  const second = { "when-2": "unlinked", "for-2": "30", "role-2": chief, "parts-2": "1" };
  const typed = { ...formOf(page), ...first, ...second, nickname: "", rows: "2", act: "paused" };
  expect((await owner.browser.post(address, typed)).status).toBe(303);
  const conditions = [
    { is: "not", of: { is: "role", roleId: admin } },
    { is: "unlinked", days: 30 },
  ];
  expect((await get()).body.data?.plan).toMatchObject({ rules: conditions.map((when) => ({ when })) });
  await remove();
});

test("the page refuses a rule that this version does not know", async () => {
  const { owner, pid } = await rolesOf();
  const address = `/dashboard/communities/${pid}/roles`;
  const form = {
    ...formOf(await owner.browser.get(address)),
    rows: "1",
    "role-1": linked,
    nickname: "",
    act: "on",
    "when-1": "moon",
  };
  const newer = await owner.browser.post(address, form);
  expect([newer.status, newer.text]).toEqual([
    400,
    expect.stringContaining("This version knows no such rule."),
  ]);
});

test("a preview for all members counts what would change, and changes nothing", async () => {
  const { owner, pid, put, remove } = await rolesOf();
  const before = await Promise.all([ada, bob, eve].map(shown));
  const place = { pid, guildId: guild };
  const rules = [
    { roleId: linked, when: { is: "linked" } },
    { roleId: member, when: { is: "group", groupId: "3", minRank: 255 } },
  ];
  const read = async () =>
    (await owner.send(`GET /dashboard/api/roles/preview?pid=${pid}&guildId=${guild}`)).body.data?.preview;
  const start = (body: object = {}) =>
    owner.send("POST /dashboard/api/roles/preview", { body: { ...place, ...body } });
  const settled = async () => {
    await expect.poll(async () => (await read())?.state).toBe("done");
    return read();
  };
  await put({ rules, nickname: null, state: "paused" });
  expect((await start()).body.data?.preview).toMatchObject({ nicknames: 0 });
  const stored = await settled();
  const roleOf = (preview: Json | null | undefined, roleId: string) =>
    (preview?.["roles"] as ReadonlyArray<Json> | undefined)?.find(
      (role) => textOf(role["roleId"]) === roleId,
    );
  const of = (roleId: string) => roleOf(stored, roleId);
  expect(stored).toMatchObject({ total: stored?.done, nicknames: 0 });
  expect(of(linked)).toEqual({ roleId: linked, gained: 2, lost: 0 });
  expect(of(member)?.gained).toBe(0);
  const lost = Number(of(member)?.lost);
  expect(lost).toBeGreaterThan(0);
  expect(stored?.examples).toContainEqual({ chatId: eve, add: [linked], remove: [], nickname: null });

  await start({ rules, nickname: "{game.username}", unlinked: "keep" });
  const kept = await settled();
  expect(kept).toMatchObject({ nicknames: 2 });
  expect(Number(roleOf(kept, member)?.["lost"])).toBeLessThan(lost);
  expectInvalid(await start({ rules: [{ roleId: "77", when: { is: "linked" } }] }), "rules");
  expectInvalid(await start({ nickname: "Member" }), "nickname");
  expect(await Promise.all([ada, bob, eve].map(shown))).toEqual(before);
  await remove();
  expect(await read()).toBeNull();
});

test("a sync gives a member the roles of the rules, and takes them back when the link changes", async () => {
  const { put, remove } = await rolesOf();
  await put();
  const { status, body } = await sync(eve);
  // Storing the plan also starts a sweep. If the sweep changes this member first, the sync has fewer changes left to
  // make.
  const added = expect.toBeOneOf([[linked, chief], [chief], []]) as unknown;
  const nickname = expect.toBeOneOf(["player_1 (user_5)", null]) as unknown;
  expect([status, body.data]).toEqual([200, { chatId: eve, added, removed: [], nickname }]);
  expect(await shown(eve)).toEqual([[member, linked, chief], "player_1 (user_5)"]);
  expectData(await sync(eve), { chatId: eve, added: [], removed: [], nickname: null });

  const me = await server.signIn(eve, server.newBrowser(), "me");
  const { roles } = (await exportOf(me)).body;
  const community = { account: "club", guildId: guild, name: null, pid: expect.any(String) as unknown };
  expect(roles).toEqual([{ community, guildId: guild, nickname: "player_1 (user_5)", problems: [] }]);

  await send("PATCH /v2/game", { key, body: { chatId: eve, gameId: "2", guildId: guild } });
  await sync(eve);
  expect(await shown(eve)).toEqual([[member, linked], "player_2 (user_5)"]);
  await send("DELETE /v2/game", { key, body: { chatId: eve, guildId: guild } });
  await sync(eve);
  await send("PATCH /v2/game", { key, body: { chatId: eve, gameId: "1", guildId: guild } });
  await remove();
});

test("the page combines and moves rules without a script, and says each as a sentence", async () => {
  const { owner, pid, get, remove } = await rolesOf();
  const address = `/dashboard/communities/${pid}/roles`;
  const hidden = formOf(await owner.browser.get(address));
  const first = { "when-1": "proven", "role-1": linked, "nickname-1": "Chief {game.username}" };
  const second = { "when-1-2": "group", "group-1-2": "3", "min-1-2": "255", "parts-1": "2" };
  const third = { "when-2": "linked", "role-2": member, "parts-2": "1" };
  const post = (fields: object) =>
    owner.browser.post(address, { ...hidden, nickname: "", rows: "2", ...fields });
  const added = await post({ ...first, ...third, act: "condition-1" });
  expect(added.text).toContain('name="parts-1" value="2"');
  expect(added.text).toContain('id="when-1-2"');
  const moved = await post({ ...first, ...second, ...third, act: "up-2" });
  expect(moved.text).toContain('name="parts-2" value="2"');
  const text = wordsOf(moved);
  expect(text).toContain("A member who has linked gets Member.");
  expect(text).toContain(
    "A member who has proven the linked account and is at least Chief of Guild gets Linked, with the nickname Chief {game.username}.",
  );
  const dropped = await post({ ...first, ...second, ...third, act: "drop-1-2" });
  expect(dropped.text).toContain('name="parts-1" value="1"');
  const wrong = await post({ ...first, "nickname-1": "Chief", ...third, act: "paused" });
  expect([wrong.status, wrong.text.includes('id="nickname-1-problem"')]).toEqual([400, true]);
  const saved = await post({ ...first, ...second, ...third, bypassRoleIds: chief, act: "paused" });
  expect(saved.status).toBe(303);
  expect((await get()).body.data?.plan).toMatchObject({
    rules: [
      {
        roleId: linked,
        when: {
          is: "all",
          of: [{ is: "proven" }, { is: "group", groupId: "3", minRank: 255, maxRank: null }],
        },
        nickname: "Chief {game.username}",
      },
      { roleId: member, when: { is: "linked" }, nickname: null },
    ],
    bypassRoleIds: [chief],
  });
  await remove();
});

test("syncing a member needs a role plan that is on in the key's scope, and a user in the guild", async () => {
  const { put, remove } = await rolesOf();
  expectUnknown(await sync(eve));
  await put({ state: "paused" });
  expectUnknown(await sync(eve));
  await put();
  for (const other of [globalKey, otherKey]) expectUnknown(await sync(eve, other));
  expectForbidden(await sync(stranger), "user_not_in_guild");
  await remove();
});
