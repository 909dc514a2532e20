import { PlatformMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { aChatUser, aGameUser, aGuild, aMember } from "@accountlink/testing";
import { Effect } from "effect";
import { MemberStore } from "../accounts/member_store.ts";
import { InvalidParameter } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { botlessGuildId, chatId, guildId, operator, scopes, servicesOn } from "../test_services.ts";
import { MemberSync } from "./member_sync.ts";
import { noPlan, type PlanSettings } from "./role_plan.ts";
import { RolePlans } from "./role_plans.ts";

const [ada, bob] = [chatId("100001"), chatId("100002")];
const [linked, officer, admin] = ["1", "2", "3"];

const group = (rank: number) => ({
  id: 9,
  name: null,
  memberCount: null,
  hasVerifiedBadge: null,
  role: { id: 1, name: null, rank },
});

const platform = {
  guilds: [
    aGuild(
      guildId,
      [aMember(ada, { manager: true }), aMember(bob, { roles: [{ id: linked, name: null }] })],
      {
        roles: [
          { id: admin, name: "Admin", assignable: false },
          { id: linked, name: "Linked", assignable: true },
          { id: officer, name: "Officer", assignable: true },
        ],
      },
    ),
    aGuild(botlessGuildId, [], { bot: false }),
  ],
  chatUsers: [aChatUser(ada), aChatUser(bob)],
  gameUsers: [aGameUser("1", { username: "ada_g", groups: [group(200)] }), aGameUser("2", { groups: null })],
};

const settings: PlanSettings = {
  ...noPlan,
  rules: [
    { roleId: linked, when: { is: "linked" } },
    { roleId: officer, when: { is: "group", groupId: "9", minRank: 100, maxRank: 200 } },
  ],
  nickname: "{game.username}",
  state: "on",
};

/** Stores a plan in the guild's scope, and returns functions of `RolePlans` that use it. */
const planned = Effect.fnUntraced(function* (chosen: PlanSettings = settings) {
  const { guild, global } = yield* scopes;
  const plans = yield* RolePlans;
  yield* plans.put(guild, guildId, chosen, operator);
  const { roles } = yield* ChatPlatform;
  return {
    guild,
    global,
    plans,
    put: (changed: PlanSettings) => plans.put(guild, guildId, changed, operator),
    sync: (user = ada) => plans.sync(guild, guildId, user),
    preview: (user = ada) => plans.preview(guild, guildId, user),
    member: (user = ada) =>
      Effect.map(roles?.findMember(guildId, user) ?? Effect.die("no roles"), (found) =>
        found._tag === "Some" ? [found.value.roleIds, found.value.nickname] : null,
      ),
  };
});

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { reason, code } = error as { readonly reason?: string; readonly code?: string };
    return reason ?? code;
  });

const test = testWith(servicesOn(PlatformMemory.layer(platform)));

test("RolePlans.put refuses wrong settings, unknown roles, second plans and botless guilds", function* () {
  const { guild, global, plans, put } = yield* planned();
  const wrong = { rules: Array.from({ length: 51 }, () => settings.rules[0]), nickname: "{x}", state: "off" };
  const refused = yield* Effect.flip(put(wrong as never));
  assert.deepEqual(refused instanceof InvalidParameter && refused.parameters.map(({ name }) => name), [
    "rules",
    "nickname",
    "state",
  ]);
  const unknown = { ...settings, rules: [{ roleId: "77", when: { is: "linked" } as const }] };
  assert.include((yield* Effect.flip(put(unknown))).message, 'the guild has no role "77"');
  assert.equal(yield* reasonOf(plans.put(global, guildId, settings, operator)), "guild_has_plan");
  const elsewhere = plans.put(global, botlessGuildId, settings, operator);
  assert.equal(yield* reasonOf(elsewhere), "bot_not_in_guild");
  assert.deepEqual((yield* plans.find(guild, guildId)).plan.rules, settings.rules);
});

test("a plan that is turned on pauses the guild's other plan if nobody of that team manages the guild", function* () {
  const { guild, global, plans } = yield* planned();
  const turnOn = plans.put(global, guildId, settings, operator);
  const team = yield* MemberStore;
  const join = (owner: ChatId) =>
    team.change({
      ...operator,
      account: "acme",
      change: { type: "add", chatId: owner, role: "owner" },
      at: 0,
    });
  yield* join(bob);
  assert.equal((yield* turnOn).plan.state, "on");
  assert.equal((yield* plans.find(guild, guildId)).plan.state, "paused");
  yield* join(ada);
  assert.equal(yield* reasonOf(plans.put(guild, guildId, settings, operator)), "guild_has_plan");
});

test("a plan forgets the nickname of a user who left the guild", function* () {
  const { guild } = yield* planned();
  const { apply } = yield* MemberSync;
  const plan = { ...settings, scope: guild, guildId };
  const changes = {
    chatId: chatId("100009"),
    add: [linked],
    remove: [],
    nickname: "ada_g",
    setNickname: { before: null, after: "ada_g" },
    isInventoryPrivate: false,
  };
  const { added, nickname, settled } = yield* apply(plan, changes);
  assert.deepEqual([added, nickname, settled.nickname, settled.problems], [[], null, null, []]);
});
