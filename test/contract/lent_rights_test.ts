/** Whose guilds a list has, and with whose rights keys manage. */
import { expect, test } from "vitest";
import { botlessGuild, guild } from "../support/fixtures.ts";
import { type RequestOptions, type Send, textOf } from "../support/http.ts";
import { dataOf, expectForbidden, expectInvalid } from "./contract_server.ts";
import { createKey, type Owner, scopesOf, signInOwner } from "./dashboard.ts";
import { managedBy, useSiteServer, verified } from "./site_server.ts";

/** Ada and Dan manage the guild, which is nobody's of them; Bob and Cyd are members. */
const [ada, bob, cyd, dan] = ["100001", "100002", "100003", "100004"];
const powerful = { id: "8", name: "Boss", assignable: true, permissions: ["administrator" as const] };

/** The highest role of every member, who may give the roles below. */
const held = { id: "1", name: "Member", assignable: true };

const server = useSiteServer(
  { ACCOUNTLINK_FREE_KEYS: "50", ACCOUNTLINK_FREE_PER_WINDOW: "1000" },
  (fixture) => {
    const member = (chatId: string, role: "owner" | "admin" | "moderator", scopes?: readonly [string]) => ({
      chatId,
      role,
      ...(scopes && { scopes }),
    });
    return {
      ...managedBy([ada, dan], [powerful, held, verified], { owner: "100040" })(fixture),
      accounts: [
        { name: "moderated", chatId: cyd, members: [member(ada, "moderator")] },
        { name: "some", chatId: cyd, members: [member(ada, "moderator", [guild])] },
        { name: "others", chatId: cyd, members: [member(ada, "admin", ["global"])] },
        { name: "run", chatId: cyd, members: [member(ada, "admin")] },
        { name: "inviting", chatId: cyd },
        { name: "club", chatId: ada, members: [member(cyd, "owner"), member(bob, "admin")] },
      ],
    };
  },
);
const { fixtures } = server;
const keysOf = (account: string) => ({
  global: fixtures.key({ account, access: "manage" }),
  ofGuild: fixtures.key({ account, guildId: guild, access: "manage" }),
});
const [moderated, some, others, run] = [keysOf("moderated"), keysOf("some"), keysOf("others"), keysOf("run")];
keysOf("inviting");
fixtures.key({ account: "inviting", guildId: botlessGuild });
const ofClub = fixtures.key({ account: "club", access: "manage" });
const ofOperator = fixtures.key({ access: "manage" });

type Line = Parameters<Send>[0];
const send = (line: Line, options: RequestOptions = {}) =>
  server.send(line, { from: fixtures.address(), ...options });

/** The last account that the user chose. */
const enter = async (chatId: string, account: string): Promise<Owner> => {
  const owner = await signInOwner(server, chatId);
  dataOf(await owner.send("POST /dashboard/api/session/account", { body: { account } }));
  return owner;
};

/** Every way in which a key names a guild, except the ways of keys that manage. */
const lines: ReadonlyArray<readonly [Line, object?]> = [
  [`GET /v2/chat?chatId=${bob}&guildId=${guild}`],
  [`GET /v2/game?gameId=1&guildId=${guild}`],
  [`GET /v2/verifications/chat?chatId=${bob}&guildId=${guild}`],
  ["POST /v2/chat/bulk", { chatIds: [bob], guildId: guild }],
  ["PATCH /v2/game", { chatId: bob, gameId: "1", guildId: guild }],
  ["PATCH /v2/chat", { oldChatId: bob, newChatId: dan, guildId: guild }],
  ["DELETE /v2/game", { chatId: bob, guildId: guild }],
  ["POST /v2/members/sync", { chatId: bob, guildId: guild }],
  ["POST /v2/sessions", { clientId: "c", guildId: guild }],
  [`GET /api/v1/public/chat-to-game?chatId=${bob}&guildId=${guild}`],
];

const expectLent = async (key: string, isLent: boolean) => {
  const found = await Promise.all(
    lines.map(async ([line, body]) => {
      const { text } = await send(line, { key, ...(body && { body }) });
      return [line, !/not_guild_manager|not managed/.test(text)];
    }),
  );
  expect(found).toEqual(lines.map(([line]) => [line, isLent]));
};

test.each([
  ["a moderator of all communities to no list", moderated, false, false],
  ["a member of some communities to these", some, false, true],
  ["an admin of another community to that one", others, true, false],
  ["an admin of all communities to every list", run, true, true],
])("a manager of a guild lends it as %s", async (_, keys, byGlobal, byOfGuild) => {
  await expectLent(keys.global, byGlobal);
  await expectLent(keys.ofGuild, byOfGuild);
});

test.each([
  ["admin", undefined, "You lend the communities that you manage to every list of this account"],
  ["moderator", undefined, "You lend none of the communities that you manage."],
  ["moderator", [guild], "You lend the communities that you manage to Rook &amp; Bishop alone"],
  ["admin", [botlessGuild], `Its communities: Community ${botlessGuild}.</p>`],
])("the page of an invitation as %s of %s says what is lent", async (role, guilds, said) => {
  const inviter = await enter(cyd, "inviting");
  const scopes =
    guilds && (await scopesOf(inviter)).filter((each) => guilds.includes(textOf(each.guildId ?? "")));
  const body = { chatId: dan, role, ...(scopes && { scopes: scopes.map(({ pid }) => pid) }) };
  dataOf(await inviter.send("POST /dashboard/api/members", { body }), 201);
  const { text } = await (await signInOwner(server, dan)).browser.get("/dashboard/account/choose");
  dataOf(await inviter.send(`DELETE /dashboard/api/members/${dan}`));
  expect(text).toContain(said);
  expect(text.includes("Now these are: Rook &amp; Bishop")).toBe(!said.includes("none"));
});

const rules = (roleId: string) => ({
  guildId: guild,
  rules: [{ roleId, when: { is: "linked" } }],
  nickname: null,
  state: "paused",
});
const inGuild: ReadonlyArray<readonly [Line, object?]> = [
  [`GET /dashboard/api/roles?guildId=${guild}`],
  ["PUT /dashboard/api/roles", rules(verified.id)],
  ["POST /dashboard/api/roles/preview", { guildId: guild, chatId: bob }],
  ["POST /dashboard/api/roles/sweep", { guildId: guild }],
  [`GET /dashboard/api/roles/history?guildId=${guild}`],
  ["POST /dashboard/api/roles/put-back", { guildId: guild, since: "2026-01-01" }],
  [`GET /dashboard/api/channels?guildId=${guild}`],
  [`GET /dashboard/api/unlinked?guildId=${guild}`],
  ["POST /dashboard/api/panel", { guildId: guild, channelId: "1" }],
];

test("a key of the command line manages the guilds of its account's owners alone, not of the team", async () => {
  for (const key of [moderated.global, moderated.ofGuild, run.global, run.ofGuild]) {
    for (const [line, body] of inGuild) {
      expectForbidden(await send(line, { key, ...(body && { body }) }), "not_guild_manager");
    }
  }
  expect((await send(`GET /dashboard/api/roles?guildId=${guild}`, { key: ofClub })).status).toBe(200);
});

test("a key of the operator's own account names all roles below the bot, others those of an owner", async () => {
  const put = (key: string, roleId: string) => send("PUT /dashboard/api/roles", { key, body: rules(roleId) });
  expect((await put(ofOperator, powerful.id)).status).toBe(200);
  expectInvalid(await put(ofClub, powerful.id), "rules");
  expect((await put(ofClub, verified.id)).status).toBe(200);
});

test("a key manages with the rights of the owner who made it, as long as they are an owner", async () => {
  const [owner, second] = [await enter(ada, "club"), await enter(cyd, "club")];
  const own = await createKey(owner, { access: "manage" });
  const ofSecond = await createKey(second, { access: "manage" });
  const [line] = inGuild[0] ?? [];
  const read = (key: string) => send(line as Line, { key });
  expect((await read(own.token)).status).toBe(200);
  expectForbidden(await read(ofSecond.token), "not_guild_manager");
  const setRole = async (role: string) =>
    dataOf(await second.send(`PATCH /dashboard/api/members/${ada}`, { body: { role } }));
  await setRole("admin");
  for (const [each, body] of [...inGuild, ["GET /dashboard/api/links"] as const])
    expectForbidden(await send(each, { key: own.token, ...(body && { body }) }), "key_access");
  expect((await send(`GET /v2/chat?chatId=${bob}`, { key: own.token })).status).toBe(404);
  await setRole("owner");
  expect((await read(own.token)).status).toBe(200);
});

test("a key has the rights of the owner who gave it a new secret, or the access", async () => {
  const [owner, second, admin] = [
    await enter(ada, "club"),
    await enter(cyd, "club"),
    await enter(bob, "club"),
  ];
  const [line] = inGuild[0] ?? [];
  const own = await createKey(owner, { access: "manage" });
  const { token } = dataOf(await second.send(`POST /dashboard/api/keys/${own.id}/rotate`, { body: {} }));
  expectForbidden(await send(line as Line, { key: textOf(token) }), "not_guild_manager");
  const plain = await createKey(admin);
  dataOf(await owner.send(`PATCH /dashboard/api/keys/${plain.id}`, { body: { access: "manage" } }));
  expect((await send(line as Line, { key: plain.token })).status).toBe(200);
});

test("what an owner disabled, limited or let end of a key that manages, an admin does not bring back", async () => {
  const [owner, admin] = [await enter(ada, "club"), await enter(bob, "club")];
  const { id } = await createKey(owner, { access: "manage" });
  const patch = (by: Owner, body: object) => by.send(`PATCH /dashboard/api/keys/${id}`, { body });
  const end = "2999-01-01T00:00:00.000Z";
  dataOf(await patch(owner, { allowIps: ["203.0.113.9"], denyIps: ["203.0.113.8"], expiresAt: end }));
  dataOf(await patch(admin, { name: "Renamed", denyIps: ["203.0.113.8", "203.0.113.7"] }));
  dataOf(await patch(admin, { status: "disabled", expiresAt: "2998-01-01T00:00:00.000Z" }));
  for (const body of [
    { status: "active" },
    { status: "active", access: "full" },
    { access: "full" },
    { allowIps: [] },
    { allowIps: ["203.0.113.9", "203.0.113.10"] },
    { denyIps: [] },
    { expiresAt: null },
    { expiresAt: end },
    { redirectOrigins: ["https://a.example"] },
  ]) {
    expectForbidden(await patch(admin, body), "role");
  }
  const page = (await admin.browser.get(`/dashboard/keys/${id}`)).text;
  expect([page.includes("Enable the key"), page.includes("Rotate the key")]).toEqual([false, false]);
  expect(page).toContain("Revoke the key");
  dataOf(await patch(owner, { status: "active", allowIps: [], expiresAt: null }));
});
