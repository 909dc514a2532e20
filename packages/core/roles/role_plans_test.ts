import { PlatformMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { aChatUser, aGuild, aMember } from "@accountlink/testing";
import { Effect } from "effect";
import { MemberStore } from "../accounts/member_store.ts";
import type { ChatId } from "../ids.ts";
import { botlessGuildId, chatId, guildId, operator, scopes, servicesOn } from "../test_services.ts";
import { MemberSync } from "./member_sync.ts";
import { noPlan, type PlanSettings } from "./role_plan.ts";
import { RolePlans } from "./role_plans.ts";

const [ada, bob] = [chatId("100001"), chatId("100002")];
const [linked, officer] = ["1", "2"];

const roles = [
  { id: linked, name: "Linked", assignable: true },
  { id: officer, name: "Officer", assignable: true },
];
const platform = {
  guilds: [
    aGuild(guildId, [aMember(ada, { manager: true }), aMember(bob)], { roles }),
    aGuild(botlessGuildId, [], { bot: false }),
  ],
  chatUsers: [aChatUser(ada), aChatUser(bob)],
  gameUsers: [],
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

/** Stores a plan in the guild's scope. */
const planned = Effect.gen(function* () {
  const plans = yield* RolePlans;
  const { guild, global } = yield* scopes;
  yield* plans.put(guild, guildId, settings, operator);
  return { guild, global, plans };
});

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { reason, code } = error as { readonly reason?: string; readonly code?: string };
    return reason ?? code;
  });

const test = testWith(servicesOn(PlatformMemory.layer(platform)));

test("a plan that is turned on pauses the guild's other plan if nobody of that team manages the guild", function* () {
  const { guild, global, plans } = yield* planned;
  const turnOn = plans.put(global, guildId, settings, operator);
  const team = yield* MemberStore;
  const join = (owner: ChatId) => {
    const change = { type: "add", chatId: owner, role: "owner" } as const;
    return team.change({ ...operator, account: "acme", change, at: 0 });
  };
  yield* join(bob);
  assert.equal((yield* turnOn).plan.state, "on");
  assert.equal((yield* plans.find(guild, guildId)).plan.state, "paused");
  yield* join(ada);
  assert.equal(yield* reasonOf(plans.put(guild, guildId, settings, operator)), "guild_has_plan");
});

test("a plan forgets the nickname of a user who left the guild", function* () {
  const { guild } = yield* planned;
  const { apply } = yield* MemberSync;
  const plan = { ...settings, scope: guild, guildId };
  const changes = {
    chatId: chatId("100009"),
    add: [linked],
    remove: [],
    nickname: "ada_g",
    setNickname: { before: null, after: "ada_g" },
    isInventoryPrivate: false,
    held: [],
    withoutItem: [],
    isUnanswered: false,
  };
  const { added, nickname, settled } = yield* apply(plan, changes);
  assert.deepEqual([added, nickname, settled.nickname, settled.problems], [[], null, null, []]);
});
