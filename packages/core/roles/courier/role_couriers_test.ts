import { aheadBy, assert } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Layer } from "effect";
import { MemberStore } from "../../accounts/member_store.ts";
import { LinkStore } from "../../links/link_store.ts";
import { ChatPlatform } from "../../platforms/chat_platform.ts";
import { chatId, guildId, later, operator, scopes } from "../../test_services.ts";
import { UserData } from "../../users/user_data.ts";
import { MemberSync } from "../member_sync.ts";
import { shownPreview } from "../plan_preview.ts";
import { planVersion } from "../role_plan.ts";
import { type Change, deployment, guest, memberIds, pass, test, usual, verified } from "./test_deployment.ts";

const usersOf = (changes: ReadonlyArray<Change>) => changes.map((change) => change.chatId);

test("changes of a link are applied in order, even while a sweep compares the same member", function* () {
  const { put, startNode, link, unlink, rolesOf, scope } = yield* deployment;
  yield* put();
  yield* startNode();
  for (let turn = 0; turn < 60; turn++) {
    const user = memberIds[turn % 7] ?? "";
    if (turn % 4 < 3) yield* link(user, "1");
    else yield* Effect.ignore(unlink(user));
    yield* pass(0.1, 0.05);
  }
  yield* pass(40);
  const links = yield* LinkStore;
  const games = yield* links.findGamesByChatIds(scope.pid, memberIds.map(chatId));
  for (const user of memberIds) {
    assert.deepEqual([user, yield* rolesOf(user)], [user, [games.has(chatId(user)) ? verified : guest]]);
  }
});

test("a change of a link waits for a platform that is down, and is applied within 15 seconds afterwards", function* () {
  const { begin, runNode, link, broken, rolesOf, status, takeRequests } = yield* deployment;
  yield* begin();
  yield* runNode(2);
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

test("waiting changes and the sweep of the day go on after the clock, which was a month ahead, is set back", function* () {
  const { begin, startNode, runNode, link, broken, rolesOf, status } = yield* deployment;
  const [user = "", month] = [memberIds[0], 30 * 86_400_000];
  yield* later(month)(begin());
  broken.isDown = true;
  yield* later(month)(
    Effect.gen(function* () {
      const { stop } = yield* startNode();
      yield* link(user, "1");
      yield* pass(10);
      yield* stop;
    }),
  );
  assert.strictEqual((yield* status).pending, 1);
  broken.isDown = false;
  yield* runNode(40);
  assert.deepEqual([yield* rolesOf(user), (yield* status).pending], [[verified], 0]);
  assert.isBelow((yield* status).sweptAt ?? month, month);
});

test("a node applies changes and sweeps at once after its clock is set back by an hour", function* () {
  const { put, startNode, link, broken, rolesOf, status } = yield* deployment;
  const [user = "", hour] = [memberIds[0], 3_600_000];
  let ahead = hour;
  yield* put();
  yield* aheadBy(() => ahead)(startNode());
  yield* pass(60);
  assert.isAbove((yield* status).sweptAt ?? 0, hour);
  broken.isDown = true;
  yield* link(user, "1");
  yield* pass(10);
  ahead = 0;
  broken.isDown = false;
  yield* pass(10);
  assert.deepEqual([yield* rolesOf(user), (yield* status).pending], [[verified], 0]);
  yield* put({ rules: usual.rules.slice(0, 1) });
  yield* pass(40);
  assert.isBelow((yield* status).sweptAt ?? hour, hour);
});

test("a sweep changes at most ten members a second, and only members that differ from the rules", function* () {
  const { put, runNode, link, changes, status, rolesOf } = yield* deployment;
  for (const user of memberIds.slice(0, 30)) yield* link(user, "1");
  yield* put({ rules: usual.rules.slice(0, 1) });
  yield* runNode(2);
  assert.isAtMost(changes.length, 21);
  yield* pass(8);
  assert.deepEqual(usersOf(changes), memberIds.slice(0, 30));
  assert.deepEqual(yield* rolesOf(memberIds[0] ?? ""), [verified]);
  const { sweep, sweptAt } = yield* status;
  assert.isNull(sweep);
  assert.isNotNull(sweptAt);
});

test("another node continues a dead node's sweep within ten seconds, and changes no member twice", function* () {
  const { put, runNode, changes, status } = yield* deployment;
  yield* put();
  const first = yield* runNode(1, "first");
  yield* runNode(14, "second");
  first.cut();
  const { done = 0, total } = (yield* status).sweep ?? {};
  assert.isAbove(done, 100);
  assert.strictEqual(total, 250);
  yield* pass(10);
  const second = changes.filter(({ node }) => node === "second");
  assert.isAbove(second.length, 0);
  yield* pass(30);
  assert.sameMembers(usersOf(changes), memberIds);
  assert.isNotNull((yield* status).sweptAt);
});

test("a sweep that would take a role from most of those who have it changes nobody and pauses the plan", function* () {
  const { put, begin, runNode, link, unlink, state, status, changes } = yield* deployment;
  const linked = memberIds.slice(0, 40);
  for (const user of linked) yield* link(user, "1");
  yield* begin({ rules: usual.rules.slice(0, 1) });
  yield* put({ state: "paused" });
  for (const user of linked.slice(0, 21)) yield* unlink(user);
  yield* put();
  yield* runNode(5);
  assert.deepEqual([changes.length, yield* state], [0, "paused"]);
  const many = { chatId: null, roleId: verified, reason: "many_would_lose" } as const;
  assert.deepInclude((yield* status).problems[0], many);

  yield* link(linked[0] ?? "", "1");
  yield* put();
  assert.deepEqual((yield* status).problems, []);
  yield* pass(40);
  assert.deepEqual([yield* state, (yield* status).problems], ["on", []]);
  assert.strictEqual(changes.filter(({ what }) => what === "remove").length, 20);
});

test("a sweep takes a role from most of its members after a preview that said so and was confirmed", function* () {
  const { put, begin, runNode, link, unlink, state, status, changes, guild, plans } = yield* deployment;
  const linked = memberIds.slice(0, 25);
  for (const user of linked) yield* link(user, "1");
  yield* begin({ rules: usual.rules.slice(0, 1) });
  yield* put({ state: "paused" });
  for (const user of linked) yield* unlink(user);
  yield* plans.previewAll(guild, usual).pipe(Effect.forkChild);
  yield* pass(5);
  const preview = yield* plans.findPreview(guild);
  assert(preview !== null);
  assert.deepInclude(shownPreview(preview), { state: "done", done: 250, total: 250, nicknames: 0 });
  assert.strictEqual(shownPreview(preview).examples.length, 20);
  assert.strictEqual(changes.length, 0);
  yield* put();
  // Whoever looks at other rules meanwhile has confirmed these all the same.
  yield* plans.previewAll(guild, { ...usual, nickname: "{game.username}" }).pipe(Effect.forkChild);
  yield* pass(5);
  yield* runNode(60);
  assert.deepEqual([yield* state, (yield* status).problems], ["on", []]);
  assert.strictEqual(changes.filter(({ what }) => what === "remove").length, 25);
});

test("a preview that keeps roles does not let a sweep take them, unless the page showed both", function* () {
  const { put, begin, runNode, roles, state, changes, guild, plans } = yield* deployment;
  const rules = usual.rules.slice(0, 1);
  yield* begin({ rules });
  yield* put({ rules, state: "paused" });
  for (const user of memberIds.slice(0, 25)) yield* roles.addRole(guildId, chatId(user), verified);
  yield* plans.previewAll(guild, { ...usual, rules, unlinked: "keep" }).pipe(Effect.forkChild);
  yield* pass(5);
  yield* put({ rules, unlinked: "keep" });
  yield* put({ rules });
  const { stop } = yield* runNode(5);
  assert.deepEqual([changes.length, yield* state], [0, "paused"]);
  yield* stop;
  const { plan } = yield* plans.find(guild);
  const putPreviewed = (id: string) => plans.put(guild, { ...usual, rules }, operator, planVersion(plan), id);
  yield* putPreviewed("");
  const other = yield* runNode(40);
  assert.deepEqual([changes.length, yield* state], [0, "paused"]);
  yield* other.stop;
  yield* putPreviewed((yield* plans.findPreview(guild))?.id ?? "");
  yield* runNode(40);
  assert.deepEqual([changes.length, yield* state], [25, "on"]);
});

test("a sweep reads a whole group if its pages are fewer requests than the linked members", function* () {
  const { put, startNode, link, broken, takeAsked, rolesOf, status } = yield* deployment;
  const [ada = "", ...others] = memberIds;
  const sweepWith = Effect.fnUntraced(function* (roleId: string) {
    const ranked = { is: "group", minRank: 1, maxRank: null } as const;
    const unknown = { roleId: "9", when: { ...ranked, groupId: "77" }, nickname: null };
    yield* put({ rules: [{ roleId, when: { ...ranked, groupId: "9" }, nickname: null }, unknown] });
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
  const asksEach = Effect.fnUntraced(function* (roleId: string) {
    assert.includeMembers(yield* sweepWith(roleId), ["group 9", ...each, "user 300"]);
  });
  broken.membersPage = (page) => ({ ...page, next: "again" });
  yield* asksEach(verified);
  broken.membersPage = () => ({ members: [], next: null });
  yield* asksEach(guest);
  broken.areMembersHidden = true;
  yield* asksEach(verified);
  broken.isCountLost = true;
  assert.deepEqual((yield* sweepWith(guest)).slice(0, each.length).toSorted(), each.toSorted());
});

test("a sweep that reads a whole group gives a member the roles of each rank, and promotion takes none", function* () {
  const { put, startNode, link, takeAsked, rolesOf, status } = yield* deployment;
  const [ada = "", ...others] = memberIds;
  const rule = (roleId: string, rank: number) => ({
    roleId,
    when: { is: "group", groupId: "8", minRank: rank, maxRank: rank } as const,
    nickname: null,
  });
  yield* link(ada, "301");
  for (const other of others.slice(0, 4)) yield* link(other, "300");
  yield* put({ rules: [rule(verified, 10), rule(guest, 200)] });
  yield* startNode();
  while ((yield* status).sweptAt === null) yield* pass(1);
  assert.include(takeAsked(), "group 8");
  assert.deepEqual((yield* rolesOf(ada)).toSorted(), [verified, guest]);
  assert.deepEqual(yield* rolesOf(others[0] ?? ""), []);
});

test("a sweep begins a day after the previous sweep", function* () {
  const { begin, runNode, status } = yield* deployment;
  yield* begin();
  const before = (yield* status).sweptAt;
  const nextDay = Effect.gen(function* () {
    yield* runNode(10);
  });
  yield* later("23 hours")(nextDay);
  assert.strictEqual((yield* status).sweptAt, before);
  yield* later("24 hours")(nextDay);
  assert.isAbove((yield* status).sweptAt ?? 0, before ?? 0);
});

test("a sweep skips members for whom the platform does not answer, and tries them again later", function* () {
  const { put, runNode, broken, rolesOf, status } = yield* deployment;
  const [ada = "", bob = ""] = memberIds;
  broken.unanswered.add(ada);
  yield* put();
  yield* runNode(40);
  assert.isNotNull((yield* status).sweptAt);
  assert.deepEqual([yield* rolesOf(ada), yield* rolesOf(bob)], [[], [guest]]);
  broken.unanswered.clear();
  yield* pass(10);
  assert.deepEqual(yield* rolesOf(ada), [guest]);
});

test("a sweep that a limit refuses asks nothing until the limit opens, and goes on where it stopped", function* () {
  const { put, runNode, broken, takeRequests, status, changes } = yield* deployment;
  broken.unanswered = new Set(memberIds.slice(5));
  broken.retryAfterMs = 60_000;
  yield* put();
  yield* runNode(10);
  assert.deepEqual(new Set(usersOf(changes)), new Set(memberIds.slice(0, 5)));
  takeRequests();
  yield* pass(45);
  assert.strictEqual(takeRequests(), 0);
  broken.unanswered.clear();
  yield* pass(60);
  assert.strictEqual(changes.length, 250);
  assert.isNotNull((yield* status).sweptAt);
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

test("a plan that is turned on pauses the guild's other plan if nobody of that team manages the guild", function* () {
  const { put, plans, state } = yield* deployment;
  const [manager = "", member = ""] = memberIds;
  const { global } = yield* scopes;
  yield* put();
  const join = Effect.fnUntraced(function* (user: string) {
    const change = { type: "add", chatId: chatId(user), role: "owner" } as const;
    yield* (yield* MemberStore).change({ ...operator, account: "acme", change, at: 0 });
  });
  yield* join(member);
  const { plan } = yield* plans.put({ scope: global, guildId }, usual, operator);
  assert.deepEqual([plan.state, yield* state], ["on", "paused"]);
  yield* join(manager);
  assert.propertyVal(yield* Effect.flip(put()), "reason", "guild_has_plan");
});

const renaming = (chatId_: string, add: ReadonlyArray<string> = []) => ({
  chatId: chatId(chatId_),
  add,
  remove: [],
  nickname: "ada_g",
  replaced: null,
  setNickname: { before: "old", during: "ada_g\nada_g\nold", after: "ada_g" },
  isInventoryPrivate: false,
  held: [],
  holding: [],
  withoutItem: [],
  isUnanswered: false,
});

test("a plan stores a nickname before it sets it, and then the one that the platform kept besides the one that it gave", function* () {
  const chat = yield* ChatPlatform;
  const { guild, place, put, roles: memory, store } = yield* deployment;
  yield* put();
  const ada = chatId(memberIds[0] ?? "");
  const storedNow = Effect.orDie(store.nicknames(place, [ada]));
  for (const [kept, stored] of [
    [true, "ada_g"],
    [{ nickname: "ada" }, "ada_g\nada"],
    [{ nickname: null }, "ada_g\n"],
  ] as const) {
    const setNickname = () =>
      Effect.map(storedNow, (nicknames) => {
        assert.strictEqual(nicknames.get(ada), "ada_g\nada_g\nold");
        return kept;
      });
    const roles = { ...memory, setNickname };
    const platform = Layer.succeed(ChatPlatform, { ...chat, roles });
    const { settled } = yield* MemberSync.use((sync) =>
      sync.apply({ ...usual, ...guild }, renaming(ada), "link"),
    ).pipe(Effect.provide(Layer.fresh(MemberSync.layer).pipe(Layer.provide(platform))));
    assert.strictEqual(settled.nickname, stored);
  }
});

test("a sweep does not forget a nickname that is set after it read the members", function* () {
  const { put, runNode, broken, member, place, roles, store } = yield* deployment;
  yield* put({ rules: usual.rules.slice(0, 1), nickname: "{game.username}" });
  const ada = chatId(memberIds[0] ?? "");
  const started = { chatId: ada, nickname: "ada_g", replaced: null, at: 0 };
  broken.afterPage = Effect.gen(function* () {
    broken.afterPage = Effect.void;
    yield* store.startNickname(place, started);
    yield* roles.setNickname(guildId, ada, "ada_g");
  }).pipe(Effect.asVoid, Effect.orDie);
  yield* runNode(30);
  // She has no link, so the plan takes its nickname back.
  assert.isNull((yield* member(ada)).nickname);
});

test("a plan forgets the nickname of a user who left the guild", function* () {
  const { guild: scope } = yield* scopes;
  const { added, nickname, settled } = yield* (yield* MemberSync).apply(
    { ...usual, scope, guildId },
    renaming("100009", [verified]),
    "link",
  );
  assert.deepEqual([added, nickname, settled.nickname, settled.problems], [[], null, null, []]);
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

for (const [kept, settings, nickname] of [
  ["lose their roles", { nickname: "{game.username}" }, "game 1"],
  ["keep their roles", { nickname: "{game.username}", unlinked: "keep" }, "game 1"],
  ["keep their roles and the rules set no nickname", { nickname: null, unlinked: "keep" }, "mine"],
] as const) {
  test(`while the platform is down a user is erased, and loses the roles later, where others ${kept}`, function* () {
    const { begin, link, startNode, member, roles, watched, broken } = yield* deployment;
    const [ada = ""] = memberIds;
    yield* roles.setNickname(guildId, chatId(ada), "mine");
    yield* begin(settings);
    yield* startNode();
    yield* link(ada, "1");
    yield* pass(3);
    broken.isDown = true;
    yield* erase(ada, watched("erasing"));
    assert.deepInclude(yield* member(ada), { roleIds: [verified], nickname });
    broken.isDown = false;
    yield* pass(6);
    const left = settings.nickname === null ? nickname : null;
    assert.deepInclude(yield* member(ada), { roleIds: [guest], nickname: left });
  });
}
