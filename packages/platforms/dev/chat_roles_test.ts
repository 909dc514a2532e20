import { type ChatId, ChatPlatform, type GuildId, type PlatformUnavailable } from "@accountlink/core";
import { decodeFixture } from "@accountlink/core/fixture";
import type { ChatRoles, RoleRefused } from "@accountlink/core/platforms";
import { CacheMemory, PlatformMemory } from "@accountlink/memory";
import { describe, expect, test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Option } from "effect";
import { cachedChatPlatform } from "../http/mod.ts";
import { startServer } from "./test_server.ts";

const guildId = "70001" as GuildId;
const elsewhere = "70002" as GuildId;
const [ada, bob, eve] = ["10001", "10002", "99999"] as [ChatId, ChatId, ChatId];

const document = {
  platform: {
    guilds: [
      {
        id: guildId,
        roles: [
          { id: "9", name: "Officer", assignable: false },
          { id: "1", name: "Member" },
        ],
        members: [
          { chatId: "100000", roles: [{ id: "2" }] },
          { chatId: bob, nickname: "B", roles: [{ id: "9", name: "Officer" }] },
          { chatId: ada },
        ],
      },
      { id: elsewhere, bot: false, members: [{ chatId: ada }] },
    ],
    chatUsers: [{ id: ada, username: "ada", displayName: "Ada" }],
  },
};

const dev = Effect.gen(function* () {
  const { platform } = yield* decodeFixture(JSON.stringify(document));
  const server = yield* startServer(platform);
  const layer = cachedChatPlatform().pipe(Layer.provide([server.adapters(), CacheMemory.layer]));
  return { ...server, chat: Context.get(yield* Layer.build(layer), ChatPlatform) };
});

const memory = Effect.gen(function* () {
  const { platform } = yield* decodeFixture(JSON.stringify(document));
  return Context.get(yield* Layer.build(PlatformMemory.layer(platform)), ChatPlatform);
});

const rolesOf = ({ roles }: ChatPlatform["Service"]): ChatRoles => roles as ChatRoles;

const reasonOf = <A>(change: Effect.Effect<A, RoleRefused | PlatformUnavailable>) =>
  Effect.map(Effect.flip(change), (error) => ("reason" in error ? error.reason : error._tag));

describe.each([
  ["memory", memory],
  ["dev", Effect.map(dev, ({ chat }) => chat)],
])("roles of the platform %s", (_, started) => {
  test("roles and members of a guild are listed, and each role says if the bot may give it", function* () {
    const roles = rolesOf(yield* started);
    expect(Option.getOrThrow(yield* roles.findGuildRoles(guildId))).toEqual({
      memberCount: 3,
      roles: [
        { id: "9", name: "Officer", assignable: false },
        { id: "1", name: "Member", assignable: true },
        { id: "2", name: "2", assignable: false },
      ],
    });
    expect(yield* roles.findGuildRoles(elsewhere)).toEqual(Option.none());
    expect((yield* roles.membersPage(guildId, null)).map(({ chatId }) => chatId)).toEqual([
      ada,
      bob,
      "100000",
    ]);
    expect((yield* roles.membersPage(guildId, bob)).map(({ chatId }) => chatId)).toEqual(["100000"]);
    expect(yield* roles.membersPage(guildId, "100000" as ChatId)).toEqual([]);
    expect(yield* roles.findMember(guildId, ada)).toEqual(
      Option.some({
        chatId: ada,
        username: "ada",
        displayName: "Ada",
        nickname: null,
        roleIds: [],
        isBot: false,
        joined: null,
      }),
    );
    expect(yield* roles.findMember(guildId, eve)).toEqual(Option.none());
  });

  test("changes of roles and nicknames show in lookups at once", function* () {
    const chat = yield* started;
    const roles = rolesOf(chat);
    const shown = Effect.map(chat.findMember(guildId, ada), Option.getOrThrow);
    expect(yield* shown).toMatchObject({ nickname: null, roles: [] });
    expect(yield* roles.addRole(guildId, ada, "1")).toBe(true);
    expect(yield* roles.addRole(guildId, ada, "1")).toBe(true);
    expect(yield* roles.setNickname(guildId, ada, "Countess")).toBe(true);
    expect(yield* shown).toMatchObject({ nickname: "Countess", roles: [{ id: "1", name: "Member" }] });
    expect(yield* roles.removeRole(guildId, ada, "1")).toBe(true);
    expect(yield* roles.setNickname(guildId, ada, null)).toBe(true);
    expect(yield* shown).toMatchObject({ nickname: null, roles: [] });
  });

  test("a refused change of a member fails with a reason, and a change of a non-member returns false", function* () {
    const roles = rolesOf(yield* started);
    expect(yield* reasonOf(roles.addRole(guildId, ada, "9"))).toBe("role_above_bot");
    expect(yield* reasonOf(roles.removeRole(guildId, ada, "7"))).toBe("role_missing");
    expect(yield* reasonOf(roles.setNickname(guildId, bob, "Boss"))).toBe("member_above_bot");
    expect(yield* roles.addRole(guildId, eve, "1")).toBe(false);
    expect(yield* roles.setNickname(elsewhere, ada, "A")).toBe(false);
  });
});

test("the dev platform counts changes by member, and lets tests change roles", function* () {
  const { chat, send, traffic } = yield* dev;
  const roles = rolesOf(chat);
  for (const nickname of ["A", "B"]) yield* roles.setNickname(guildId, ada, nickname);
  yield* roles.removeRole(guildId, bob, "1");
  const role = `/control/guilds/${guildId}/roles/1`;
  yield* send("PUT", role, { body: { name: "Member", assignable: false } });
  expect(yield* reasonOf(roles.addRole(guildId, ada, "1"))).toBe("role_above_bot");
  yield* send("DELETE", role);
  expect(yield* reasonOf(roles.addRole(guildId, ada, "1"))).toBe("role_missing");
  expect((yield* traffic).changes).toEqual({ "PATCH 10001 nickname": 2, "DELETE 10002 roles/1": 1 });
});
