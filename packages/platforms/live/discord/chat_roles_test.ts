import type { ChatId } from "@accountlink/core";
import type { ChatRoles, GuildRoles } from "@accountlink/core/platforms";
import type { HttpAnswering } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Option } from "effect";
import { ada, bob, chatPlatformAt, eve, guildId, startDiscord } from "./test_discord.ts";

const bot = { id: "80351110224678912", username: "accountlink", bot: true };
const [manageRoles, manageNicknames] = [1n << 28n, 1n << 27n];
const memberRole = "41771983423143938";
const boosterRole = "41771983423143939";
const botRole = "41771983423143940";
const officerRole = "41771983423143941";

/** A guild in the format that Discord documents, where the bot's role has these permissions. */
const guild = (permissions: bigint, owner: string) => {
  const role = (id: string, name: string, position: number, more: object = {}) => ({
    id,
    name,
    position,
    permissions: "1071698660929",
    managed: false,
    icon: null,
    ...more,
  });
  return {
    id: guildId,
    name: "Engine Room",
    owner_id: owner,
    approximate_member_count: 51_000,
    roles: [
      role(guildId, "@everyone", 0),
      role(botRole, "accountlink", 3, { managed: true, permissions: String(permissions) }),
      role(memberRole, "Member", 1, { permissions: String(1n << 28n) }),
      role(boosterRole, "Booster", 2, { managed: true }),
      role(officerRole, "Officer", 4),
    ],
  };
};

const setUp = Effect.fnUntraced(function* (
  change: HttpAnswering = { status: 204 },
  permissions = manageRoles | manageNicknames,
  owner: string = eve.id,
) {
  const discord = yield* startDiscord((path, { method }) => {
    if (method !== "GET") return change;
    if (path === "/users/@me") return { body: bot };
    if (path === `/guilds/${guildId}`) return { body: guild(permissions, owner) };
    if (path === `/guilds/${guildId}/members/${bot.id}`) return { body: { user: bot, roles: [botRole] } };
    return undefined;
  });
  const chat = yield* chatPlatformAt(discord.apiUrl, { resilience: { failuresToOpen: 2 } });
  return { ...discord, roles: chat.roles as ChatRoles };
});

const assignable = (given: ReadonlyArray<string>, rights: GuildRoles["rights"]) => ({
  memberCount: 51_000,
  rights,
  roles: [
    { id: officerRole, name: "Officer" },
    { id: botRole, name: "accountlink" },
    { id: boosterRole, name: "Booster" },
    { id: memberRole, name: "Member" },
  ].map((role) => ({ ...role, assignable: given.includes(role.id) })),
});

test.each<[what: string, permissions: bigint, given: ReadonlyArray<string>, mayRename: boolean]>([
  ["below its own that belong to no integration", manageRoles, [memberRole], false],
  ["below its own as an administrator", 8n, [memberRole], true],
  ["none without the permission", manageNicknames, [], true],
])(
  "the roles of a guild show which ones the bot may give: %s",
  function* ([, permissions, given, nicknames]) {
    const { roles } = yield* setUp(undefined, permissions);
    expect(Option.getOrThrow(yield* roles.findGuildRoles(guildId))).toEqual(
      assignable(given, { roles: given.length > 0, nicknames }),
    );
  },
);

test.each<[user: string, permissions: bigint, owner: string, nameable: ReadonlyArray<string>]>([
  [bot.id, manageRoles, eve.id, [boosterRole, memberRole, guildId]],
  [bot.id, 8n, eve.id, [boosterRole, memberRole, guildId]],
  [bot.id, manageNicknames, eve.id, [boosterRole, guildId]],
  [bob.id, manageRoles, eve.id, []],
  [bob.id, manageRoles, bob.id, [guildId, botRole, memberRole, boosterRole, officerRole]],
  [eve.id, manageRoles, eve.id, []],
])(
  "the user %s, while the bot's role has the permissions %d and %s owns the guild, may name the roles %j",
  function* ([user, permissions, owner, nameable]) {
    const { roles } = yield* setUp(undefined, permissions, owner);
    const named = roles.findNameable?.(guildId, user as ChatId) ?? Effect.die("no ranks");
    expect([...(yield* named)]).toEqual(nameable);
  },
);

const names = { displayName: "Ada Lovelace", nickname: "Countess", username: "ada" };
const roleIds = ["41771983423143936", "41771983423143937"];

test("members are read with names and roles", function* () {
  const { roles } = yield* setUp();
  expect(Option.getOrThrow(yield* roles.findMember(guildId, ada.id))).toEqual({
    chatId: ada.id,
    ...names,
    roleIds,
    isBot: false,
    joined: "2015-04-26T06:26:56.936Z",
    isPending: false,
  });
  expect(Option.getOrThrow(yield* roles.findMember(guildId, bot.id as ChatId)).isBot).toBe(true);
  expect(yield* roles.findMember(guildId, eve.id)).toEqual(Option.none());
});

test("members are listed in pages of 1,000 by ID, and a page that is not full is the last", function* () {
  const { roles, heard } = yield* setUp();
  const first = yield* roles.membersPage(guildId, null);
  expect(first.members.map(({ chatId }) => chatId)).toEqual([bob.id, ada.id]);
  expect(first.next).toBe(null);
  expect(yield* roles.membersPage(guildId, ada.id)).toEqual({ members: [], next: null });
  expect(heard.map(({ query }) => [query.get("limit"), query.get("after")])).toEqual([
    ["1000", null],
    ["1000", ada.id],
  ]);
});

test("a page that is full but for a few goes on after the last member that can be read", function* () {
  const listed = (number: number) => ({
    user: { id: `${4177198342314400 + number}`, username: "ada" },
    roles: [],
  });
  const page = [...Array.from({ length: 990 }, (_, index) => listed(index)), { user: null }];
  const discord = yield* startDiscord(() => ({ body: page }));
  const { roles } = yield* chatPlatformAt(discord.apiUrl);
  const { members, next } = yield* (roles as ChatRoles).membersPage(guildId, null);
  expect([members.length, next]).toEqual([990, members[989]?.chatId]);
});

test.each<[given: string | null, answer: object, renamed: unknown]>([
  ["ada", { nick: "ada" }, true],
  ["ada\u200b", { nick: "ada" }, { nickname: "ada" }],
  [ada.username, { nick: null }, { nickname: null }],
  [ada.username, {}, { nickname: null }],
  [null, {}, true],
])("Discord's answer says which nickname a member has after %j: %j", function* ([given, answer, renamed]) {
  const { roles } = yield* setUp({ body: { user: ada, roles: [], ...answer } });
  expect(yield* roles.setNickname(guildId, ada.id, given)).toEqual(renamed);
});

const member = `/api/v10/guilds/${guildId}/members/${ada.id}`;

test("a change of a member is one request with the reason for the guild's audit log", function* () {
  const { roles, heard } = yield* setUp();
  expect(yield* roles.addRole(guildId, ada.id, memberRole)).toBe(true);
  expect(yield* roles.removeRole(guildId, ada.id, memberRole)).toBe(true);
  expect(yield* roles.setNickname(guildId, ada.id, null)).toBe(true);
  expect(heard.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["PUT", `${member}/roles/${memberRole}`, ""],
    ["DELETE", `${member}/roles/${memberRole}`, ""],
    ["PATCH", member, '{"nick":null}'],
  ]);
  for (const { headers } of heard) {
    expect(headers["x-audit-log-reason"]).toBe("This%20member's%20linked%20game%20account");
  }
});
