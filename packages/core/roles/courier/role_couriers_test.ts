import { PlatformMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { aGameUser, aMember, uniqueText } from "@accountlink/testing";
import { Clock, Effect, Fiber, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { MemberStore } from "../../accounts/member_store.ts";
import { PlatformUnavailable } from "../../errors.ts";
import { LinkStore } from "../../links/link_store.ts";
import { LinkWriter } from "../../links/link_writer.ts";
import type { ChatRoles } from "../../platforms/chat_platform.ts";
import { ChatPlatform, MembersHidden, RoleRefused } from "../../platforms/chat_platform.ts";
import { GamePlatform } from "../../platforms/game_platform.ts";
import type { GameProfile } from "../../platforms/profile.ts";
import {
  chatId,
  gameId,
  guildId,
  later,
  operator,
  platform,
  scopes,
  servicesOn,
  startNodeOn,
} from "../../test_services.ts";
import { UserData } from "../../users/user_data.ts";
import { MemberSync } from "../member_sync.ts";
import { noPlan, type PlanSettings } from "../role_plan.ts";
import { RolePlanStore } from "../role_plan_store.ts";
import { RolePlans } from "../role_plans.ts";
import { RoleCouriers } from "./role_couriers.ts";

const verified = "1";
const guest = "2";

interface Change {
  readonly node: string;
  readonly what: "add" | "remove" | "nickname";
  readonly chatId: string;
  readonly value: string | null;
  readonly at: number;
}

const inGroup = (id: number) => ({
  id,
  name: null,
  memberCount: null,
  hasVerifiedBadge: null,
  role: { id: 1, name: "Fan", rank: 1 },
});

const memberIds = Array.from({ length: 250 }, (_, index) => String(20_001 + index));

const guild = {
  id: guildId,
  name: "Engine Room",
  bot: true,
  roles: [
    { id: "9", name: "Officer", assignable: false },
    { id: verified, name: "Verified", assignable: true },
    { id: guest, name: "Guest", assignable: true },
    { id: "10", name: "Member of the group", assignable: true },
  ],
  members: memberIds.map((id) => aMember(id)),
};

/** Game users 1 to 9, 101 to 250 in the group 9, and 300 in the group 8. */
const gameUsers = [
  ...platform.gameUsers,
  ...Array.from({ length: 150 }, (_, i) => aGameUser(String(101 + i), { groups: [inGroup(9)] })),
  aGameUser("300", { groups: [inGroup(8)] }),
];

const usual: PlanSettings = {
  ...noPlan,
  rules: [
    { roleId: verified, when: { is: "linked" } },
    { roleId: guest, when: { is: "unlinked" } },
  ],
  state: "on",
};

/** A deployment with a platform that tests can watch and make fail. */
const deployment = Effect.gen(function* () {
  const chat = yield* ChatPlatform;
  const memory = chat.roles as ChatRoles;
  const changes: Array<Change> = [];
  const broken = {
    isDown: false,
    hasBot: true,
    areMembersHidden: false,
    areGroupsClosed: false,
    isPassGone: false,
    isListHidden: false,
    refusesNameOf: (_: string) => false,
    managers: (_: string) => true,
    unanswered: new Set<string>(),
    retryAfterMs: null as number | null,
  };
  let requests = 0;

  const ask = <A, E>(user: string | null, request: Effect.Effect<A, E>) =>
    Effect.suspend((): Effect.Effect<A, E | PlatformUnavailable> => {
      requests++;
      const isBroken = broken.isDown || (user !== null && broken.unanswered.has(user));
      const limited = broken.retryAfterMs === null ? {} : { retryAfterMs: broken.retryAfterMs };
      return isBroken
        ? Effect.fail(new PlatformUnavailable({ operation: "ChatRoles", ...limited }))
        : request;
    });
  const change =
    (what: Change["what"], node: string) =>
    <A, E>(user: string, value: string | null, request: Effect.Effect<A, E>) =>
      ask(
        user,
        Effect.tap(Effect.delay(request, "20 millis"), () =>
          Effect.map(Clock.currentTimeMillis, (at) => changes.push({ node, what, chatId: user, value, at })),
        ),
      );

  const gamePlatform = yield* GamePlatform;
  /** The questions about groups and profiles of the game platform. */
  const asked: Array<string> = [];
  const watchedGame = GamePlatform.of({
    ...gamePlatform,
    findProfile: (id, parts) =>
      Effect.suspend(() => {
        asked.push(`user ${id}`);
        const found = gamePlatform.findProfile(id, parts);
        const withoutGroups = Option.map<GameProfile, GameProfile>((profile) => ({
          ...profile,
          groups: null,
        }));
        return broken.areGroupsClosed ? Effect.map(found, withoutGroups) : found;
      }),
    findGroup: (id) =>
      broken.areGroupsClosed || gamePlatform.findGroup === undefined
        ? Effect.fail(new PlatformUnavailable({ operation: "GamePlatform.findGroup" }))
        : gamePlatform.findGroup(id),
    hasItem: (id, item) =>
      Effect.suspend(() => {
        asked.push(`item of ${id}`);
        return broken.isPassGone || gamePlatform.hasItem === undefined
          ? Effect.succeed("no_item" as const)
          : gamePlatform.hasItem(id, item);
      }),
    groupMembers: (id, cursor) =>
      Effect.suspend(() => {
        asked.push(`group ${id}`);
        const unavailable = new PlatformUnavailable({ operation: "GamePlatform.groupMembers" });
        return broken.areMembersHidden || gamePlatform.groupMembers === undefined
          ? Effect.fail(unavailable)
          : gamePlatform.groupMembers(id, cursor);
      }),
  });

  const watched = (node: string) =>
    ChatPlatform.of({
      ...chat,
      isManager: (_, user) => Effect.succeed(broken.managers(user)),
      roles: {
        findGuildRoles: (id) => ask(null, broken.hasBot ? memory.findGuildRoles(id) : Effect.succeedNone),
        findMember: (id, user) => ask(user, broken.hasBot ? memory.findMember(id, user) : Effect.succeedNone),
        membersPage: (id, after) =>
          ask(null, broken.isListHidden ? Effect.fail(new MembersHidden()) : memory.membersPage(id, after)),
        addRole: (id, user, role) => change("add", node)(user, role, memory.addRole(id, user, role)),
        removeRole: (id, user, role) => change("remove", node)(user, role, memory.removeRole(id, user, role)),
        setNickname: (id, user, name) =>
          change("nickname", node)(
            user,
            name,
            broken.refusesNameOf(user)
              ? Effect.fail(new RoleRefused({ reason: "nickname_refused" }))
              : memory.setNickname(id, user, name),
          ),
      },
    });

  const store = yield* RolePlanStore;

  const startNode = (name = uniqueText()) =>
    startNodeOn(store, (reachable) =>
      RoleCouriers.layer.pipe(
        Layer.provide([
          Layer.succeed(ChatPlatform, watched(name)),
          Layer.succeed(GamePlatform, watchedGame),
          Layer.succeed(RolePlanStore, reachable),
        ]),
      ),
    );

  const plans = yield* RolePlans;
  const writer = yield* LinkWriter;
  const { guild: scope } = yield* scopes;
  const target = { origin: operator, scope, guildId };
  const statusNow = Effect.map(plans.find(scope, guildId), ({ status }) => status);
  return {
    changes,
    broken,
    takeAsked: () => asked.splice(0),
    watched,
    startNode,
    takeRequests: () => {
      const taken = requests;
      requests = 0;
      return taken;
    },
    put: (settings: Partial<PlanSettings> = {}) =>
      plans.put(scope, guildId, { ...usual, ...settings }, operator),
    startSweep: plans.startSweep(scope, guildId),
    /** Turns a plan on, and waits until its sweep ends. */
    begin: Effect.fnUntraced(function* (settings: Partial<PlanSettings> = {}) {
      yield* plans.put(scope, guildId, { ...usual, ...settings }, operator);
      const { stop } = yield* startNode();
      while ((yield* statusNow).sweptAt === null) yield* pass(1);
      yield* stop;
      changes.length = 0;
      requests = 0;
    }),
    status: statusNow,
    state: Effect.map(plans.find(scope, guildId), ({ plan }) => plan.state),
    link: (user: string, game: string) =>
      writer.setGame(target, { chatId: chatId(user), gameId: gameId(game) }),
    unlink: (user: string) => writer.removeGame(target, chatId(user), { requireMember: false }),
    move: (from: string, to: string) =>
      writer.moveChat(target, { oldChatId: chatId(from), newChatId: chatId(to) }),
    rolesOf: (user: string) =>
      Effect.map(memory.findMember(guildId, chatId(user)), (found) => Option.getOrThrow(found).roleIds),
    member: (user: string) => Effect.map(memory.findMember(guildId, chatId(user)), Option.getOrThrow),
  };
});

/** Lets time pass in steps, so that waiting fibers continue in between. */
const pass = Effect.fnUntraced(function* (seconds: number, step = 0.5) {
  for (let passed = 0; passed < seconds; passed += step) yield* TestClock.adjust(step * 1_000);
});

const test = testWith(servicesOn(PlatformMemory.layer({ ...platform, guilds: [guild], gameUsers })));

const usersOf = (changes: ReadonlyArray<Change>) => changes.map((change) => change.chatId);

test("when a link is set, moved or removed, roles and nicknames change within a second", function* () {
  const { begin, startNode, link, unlink, move, member } = yield* deployment;
  const [ada = "", bob = ""] = memberIds;
  yield* begin({ nickname: "{game.username}" });
  yield* startNode();
  yield* pass(2);
  yield* link(ada, "1");
  yield* pass(1, 0.1);
  assert.deepInclude(yield* member(ada), { roleIds: [verified], nickname: "game 1" });
  yield* move(ada, bob);
  yield* pass(1, 0.1);
  assert.deepInclude(yield* member(ada), { roleIds: [guest], nickname: null });
  assert.deepInclude(yield* member(bob), { roleIds: [verified], nickname: "game 1" });
  yield* unlink(bob);
  yield* pass(1, 0.1);
  assert.deepInclude(yield* member(bob), { roleIds: [guest], nickname: null });
});

test("changes of a link are applied in order, even while a sweep compares the same member", function* () {
  const { put, startNode, link, unlink, rolesOf } = yield* deployment;
  yield* put();
  yield* startNode();
  for (let turn = 0; turn < 60; turn++) {
    const user = memberIds[turn % 7] ?? "";
    if (turn % 4 < 3) yield* link(user, "1");
    else yield* Effect.ignore(unlink(user));
    yield* pass(0.1, 0.05);
  }
  yield* pass(40);
  const store = yield* LinkStore;
  const { guild: scope } = yield* scopes;
  const games = yield* store.findGamesByChatIds(scope.pid, memberIds.map(chatId));
  for (const user of memberIds) {
    assert.deepEqual([user, yield* rolesOf(user)], [user, [games.has(chatId(user)) ? verified : guest]]);
  }
});

test("a change of a link waits for a platform that is down, and is applied within 15 seconds afterwards", function* () {
  const { begin, startNode, link, broken, rolesOf, status, takeRequests } = yield* deployment;
  yield* begin();
  yield* startNode();
  yield* pass(2);
  broken.isDown = true;
  const users = memberIds.slice(0, 200);
  for (const user of users) yield* link(user, "1");
  yield* pass(120);
  assert.isAtMost(takeRequests(), 60);
  assert.strictEqual((yield* status).pending, 200);
  broken.isDown = false;
  yield* pass(15, 0.1);
  for (const user of users) assert.deepEqual(yield* rolesOf(user), [verified]);
  assert.strictEqual((yield* status).pending, 0);
});

test("a change that the platform refuses is reported as a problem, and the next sweep tries the change again", function* () {
  const { begin, put, startNode, startSweep, link, status, changes } = yield* deployment;
  const [ada = ""] = memberIds;
  yield* begin();
  yield* put({ rules: [{ roleId: "9", when: { is: "linked" } }] });
  yield* startNode();
  yield* pass(5);
  yield* link(ada, "1");
  yield* pass(5);
  const { problems, pending } = yield* status;
  assert.strictEqual(pending, 0);
  assert.deepInclude(problems[0] ?? {}, { chatId: ada, roleId: "9", reason: "role_above_bot" });
  yield* pass(600, 60);
  yield* startSweep;
  yield* pass(5);
  assert.isAbove((yield* status).problems[0]?.at ?? 0, problems[0]?.at ?? 0);
  assert.lengthOf((yield* status).problems, 1);
  assert.lengthOf(changes, 0);
});

test("a sweep changes at most ten members a second, and only members that differ from the rules", function* () {
  const { put, startNode, link, changes, status, rolesOf } = yield* deployment;
  for (const user of memberIds.slice(0, 30)) yield* link(user, "1");
  yield* put({ rules: usual.rules.slice(0, 1) });
  yield* startNode();
  yield* pass(2);
  assert.isAtMost(changes.length, 21);
  yield* pass(8);
  assert.deepEqual(usersOf(changes), memberIds.slice(0, 30));
  assert.deepEqual(yield* rolesOf(memberIds[0] ?? ""), [verified]);
  const { sweep, sweptAt } = yield* status;
  assert.isNull(sweep);
  assert.isNotNull(sweptAt);
});

test("another node continues a dead node's sweep within ten seconds, and changes no member twice", function* () {
  const { put, startNode, changes, status } = yield* deployment;
  yield* put();
  const first = yield* startNode("first");
  yield* pass(1);
  yield* startNode("second");
  yield* pass(14);
  first.cut();
  const before = (yield* status).sweep;
  assert.deepInclude(before ?? {}, { done: 150, total: 250 });
  yield* pass(10);
  const second = changes.filter(({ node }) => node === "second");
  assert.isAbove(second.length, 0);
  yield* pass(30);
  assert.sameMembers(usersOf(changes), memberIds);
  assert.isNotNull((yield* status).sweptAt);
});

test("a sweep reads a whole group if its pages are fewer requests than the linked members", function* () {
  const { put, startNode, link, broken, takeAsked, rolesOf, status } = yield* deployment;
  const [ada = "", ...others] = memberIds;
  const sweepWith = Effect.fnUntraced(function* (roleId: string) {
    const ranked = { is: "group", minRank: 1, maxRank: null } as const;
    const unknown = { roleId: "9", when: { ...ranked, groupId: "77" } };
    yield* put({ rules: [{ roleId, when: { ...ranked, groupId: "9" } }, unknown] });
    const before = (yield* status).sweptAt;
    while ((yield* status).sweptAt === before) yield* pass(1);
    assert.include(yield* rolesOf(ada), roleId);
    return takeAsked();
  });
  yield* startNode();
  yield* link(ada, "101");
  yield* link(others[0] ?? "", "300");
  yield* link(others[1] ?? "", "300");
  yield* link(others[2] ?? "", "300");
  // The second question about a user is asked before a change.
  const each = ["user 101", "user 300", "user 300", "user 300"];
  assert.deepEqual(yield* sweepWith(verified), [...each, "user 101"]);

  yield* link(others[3] ?? "", "300");
  yield* pass(2);
  takeAsked();
  assert.deepEqual(yield* sweepWith(guest), ["group 9", "group 9", "user 101"]);
  broken.areMembersHidden = true;
  const asked = yield* sweepWith(verified);
  assert.includeMembers(asked, ["group 9", ...each, "user 300"]);
});

test("a sweep begins a day after the previous sweep", function* () {
  const { begin, startNode, status } = yield* deployment;
  yield* begin();
  const before = (yield* status).sweptAt;
  const nextDay = Effect.gen(function* () {
    yield* startNode();
    yield* pass(10);
  });
  yield* later("23 hours")(nextDay);
  assert.strictEqual((yield* status).sweptAt, before);
  yield* later("24 hours")(nextDay);
  assert.isAbove((yield* status).sweptAt ?? 0, before ?? 0);
});

test("a sweep skips members for whom the platform does not answer, and tries them again later", function* () {
  const { put, startNode, broken, rolesOf, status } = yield* deployment;
  const [ada = "", bob = ""] = memberIds;
  broken.unanswered.add(ada);
  yield* put();
  yield* startNode();
  yield* pass(40);
  assert.isNotNull((yield* status).sweptAt);
  assert.deepEqual([yield* rolesOf(ada), yield* rolesOf(bob)], [[], [guest]]);
  broken.unanswered.clear();
  yield* pass(10);
  assert.deepEqual(yield* rolesOf(ada), [guest]);
});

test("a sweep that a limit refuses asks nothing until the limit opens, and goes on where it stopped", function* () {
  const { put, startNode, broken, takeRequests, status, changes } = yield* deployment;
  broken.unanswered = new Set(memberIds.slice(5));
  broken.retryAfterMs = 60_000;
  yield* put();
  yield* startNode();
  yield* pass(10);
  assert.deepEqual(new Set(usersOf(changes)), new Set(memberIds.slice(0, 5)));
  takeRequests();
  yield* pass(45);
  assert.strictEqual(takeRequests(), 0);
  broken.unanswered.clear();
  yield* pass(60);
  assert.strictEqual(changes.length, 250);
  assert.isNotNull((yield* status).sweptAt);
});

const officer = "10";
const linkedAndGroup: PlanSettings["rules"] = [
  { roleId: verified, when: { is: "linked" } },
  { roleId: officer, when: { is: "group", groupId: "9", minRank: null, maxRank: null } },
];

test("a source that answers nobody holds back its role alone, and its first answer starts a sweep", function* () {
  const { put, startNode, link, broken, rolesOf, status, takeAsked } = yield* deployment;
  const users = memberIds.slice(0, 60);
  for (const [index, user] of users.entries()) yield* link(user, String(101 + index));
  yield* put({ rules: linkedAndGroup });
  broken.areGroupsClosed = true;
  yield* startNode();
  yield* pass(30);
  const closed = yield* status;
  assert.isNotNull(closed.sweptAt);
  assert.isNull(closed.sweep);
  const problemsOf = ({ problems }: typeof closed) =>
    problems.map(({ chatId: user, roleId, reason }) => [user, roleId, reason]);
  assert.deepEqual(problemsOf(closed), [[null, officer, "source_closed"]]);
  for (const user of users) assert.deepEqual(yield* rolesOf(user), [verified]);
  yield* pass(60);
  takeAsked();
  yield* pass(600, 1);
  assert.isAtMost(takeAsked().length, 40);

  broken.areGroupsClosed = false;
  yield* pass(700, 1);
  for (const user of users) assert.deepEqual(yield* rolesOf(user), [verified, officer]);
  assert.deepEqual(problemsOf(yield* status), []);
  assert.strictEqual((yield* status).pending, 0);
});

test("roles stay if a source stops to answer, and a link gives what does not depend on it", function* () {
  const { begin, startNode, startSweep, link, broken, rolesOf, status } = yield* deployment;
  const [ada = "", bob = ""] = memberIds;
  yield* link(ada, "101");
  yield* begin({ rules: linkedAndGroup });
  assert.deepEqual(yield* rolesOf(ada), [verified, officer]);
  broken.areGroupsClosed = true;
  yield* startNode();
  yield* startSweep;
  yield* link(bob, "102");
  yield* pass(10);
  assert.deepEqual([yield* rolesOf(ada), yield* rolesOf(bob)], [[verified, officer], [verified]]);
  assert.isNull((yield* status).sweep);
  broken.areGroupsClosed = false;
  yield* pass(60);
  assert.deepEqual(yield* rolesOf(bob), [verified, officer]);
});

test("an item that does not exist is a problem of the plan, and is asked about once in a sweep", function* () {
  const { put, startNode, link, broken, rolesOf, status, takeAsked } = yield* deployment;
  const users = memberIds.slice(0, 60);
  for (const [index, user] of users.entries()) yield* link(user, String(101 + index));
  broken.isPassGone = true;
  const owner = { is: "owner", item: "gamepass", itemId: "55" } as const;
  yield* put({ rules: [...usual.rules, { roleId: officer, when: owner }] });
  yield* startNode();
  yield* pass(40);
  const { sweep, sweptAt, problems, pending } = yield* status;
  assert.deepEqual([sweep, pending, sweptAt === null], [null, 0, false]);
  assert.deepEqual(
    problems.map(({ chatId: user, roleId, reason }) => [user, roleId, reason]),
    [[null, officer, "item_unknown"]],
  );
  for (const user of users) assert.deepEqual(yield* rolesOf(user), [verified]);
  // Four members of the sweep are compared at a time, and each is asked about again before a change.
  assert.isAtMost(takeAsked().filter((what) => what.startsWith("item")).length, 4);
});

test("nicknames that the platform refuses are problems of their members, and nothing else waits", function* () {
  const { put, startNode, link, broken, member, status } = yield* deployment;
  const users = memberIds.slice(0, 40);
  for (const [index, user] of users.entries()) yield* link(user, String(101 + index));
  broken.refusesNameOf = (user) => Number(user) % 2 === 1;
  yield* put({ nickname: "{game.username}" });
  yield* startNode();
  yield* pass(60);
  const { sweep, sweptAt, problems, pending } = yield* status;
  assert.deepEqual([sweep, pending, sweptAt === null], [null, 0, false]);
  assert.deepEqual(
    new Set(problems.map(({ roleId, reason }) => `${roleId} ${reason}`)),
    new Set(["null nickname_refused"]),
  );
  assert.strictEqual(problems.length, 20);
  for (const [index, user] of users.entries()) {
    const nickname = broken.refusesNameOf(user) ? null : `game_${101 + index}`;
    assert.deepInclude(yield* member(user), { roleIds: [verified], nickname });
  }
});

test("a list of members that the platform hides is a problem of the plan", function* () {
  const { put, startNode, startSweep, broken, status } = yield* deployment;
  broken.isListHidden = true;
  yield* put();
  yield* startNode();
  yield* pass(3);
  const { sweep, sweptAt, problems } = yield* status;
  assert.deepEqual([sweep, sweptAt === null], [null, false]);
  const [problem] = problems;
  assert.deepInclude(problem, { chatId: null, roleId: null, reason: "members_hidden" });
  broken.isListHidden = false;
  yield* startSweep;
  yield* pass(40);
  assert.deepEqual((yield* status).problems, []);
});

test("a change in a guild that the bot has left pauses the plan, and is made when the plan is on again", function* () {
  const { begin, put, startNode, link, unlink, broken, state, member } = yield* deployment;
  const [ada = ""] = memberIds;
  const settings = { nickname: "{game.username}" };
  yield* begin(settings);
  yield* startNode();
  yield* link(ada, "1");
  yield* pass(3);
  assert.deepInclude(yield* member(ada), { roleIds: [verified], nickname: "game 1" });
  broken.hasBot = false;
  yield* unlink(ada);
  yield* pass(3);
  assert.strictEqual(yield* state, "paused");
  broken.hasBot = true;
  yield* put(settings);
  yield* pass(3);
  assert.deepInclude(yield* member(ada), { roleIds: [guest], nickname: null });
});

test("a sweep pauses a plan if the bot has left the guild, or if nobody who accepted to be in the team manages the guild", function* () {
  const { begin, put, startNode, startSweep, broken, state } = yield* deployment;
  yield* begin();
  yield* startNode();
  broken.hasBot = false;
  yield* startSweep;
  yield* pass(3);
  assert.strictEqual(yield* state, "paused");
  broken.hasBot = true;
  broken.managers = (user) => user === "10002";
  yield* put();
  yield* pass(3);
  assert.strictEqual(yield* state, "on");
  const team = yield* MemberStore;
  const owner = { type: "add", chatId: chatId("10001"), role: "owner" } as const;
  yield* team.change({ ...operator, account: "acme", change: owner, at: 0 });
  const actor = { type: "account", id: "acme", member: "10001" } as const;
  const manager = { type: "add", chatId: chatId("10002"), role: "admin" } as const;
  yield* team.change({ actor, requestId: null, account: "acme", change: manager, at: 0 });
  yield* startSweep;
  yield* pass(3);
  assert.strictEqual(yield* state, "paused");
});

const erase = (user: string, chat: ChatPlatform["Service"]) =>
  UserData.use((users) => users.erase(chatId(user), operator)).pipe(
    Effect.provide(
      Layer.fresh(
        UserData.layer.pipe(
          Layer.provide(Layer.fresh(MemberSync.layer)),
          Layer.provide(Layer.succeed(ChatPlatform, chat)),
        ),
      ),
    ),
  );

test("an erased user loses the roles and the nickname before the data is erased", function* () {
  const { begin, link, startNode, member, watched } = yield* deployment;
  const [ada = ""] = memberIds;
  yield* begin({ nickname: "{game.username}" });
  const { stop } = yield* startNode();
  yield* link(ada, "1");
  yield* pass(3);
  assert.deepInclude(yield* member(ada), { roleIds: [verified], nickname: "game 1" });
  yield* stop;
  const erasing = yield* Effect.forkChild(erase(ada, watched("erasing")));
  yield* pass(1, 0.1);
  yield* Fiber.join(erasing);
  assert.deepInclude(yield* member(ada), { roleIds: [guest], nickname: null });
});

test("a user is erased even while the platform is down, and loses the roles and the nickname later", function* () {
  const { begin, link, startNode, member, watched, broken } = yield* deployment;
  const [ada = ""] = memberIds;
  yield* begin({ nickname: "{game.username}" });
  yield* startNode();
  yield* link(ada, "1");
  yield* pass(3);
  broken.isDown = true;
  yield* erase(ada, watched("erasing"));
  assert.deepInclude(yield* member(ada), { roleIds: [verified], nickname: "game 1" });
  broken.isDown = false;
  yield* pass(6);
  assert.deepInclude(yield* member(ada), { roleIds: [guest], nickname: null });
});
