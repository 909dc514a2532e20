import { assert } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { chatId, guildId } from "../../test_services.ts";
import type { PlanSettings, PlanStatus } from "../role_plan.ts";
import { deployment, guest, memberIds, pass, test, usual, verified } from "./test_deployment.ts";

const officer = "10";
const linkedAndGroup: PlanSettings["rules"] = [
  { roleId: verified, when: { is: "linked" }, nickname: null },
  { roleId: officer, when: { is: "group", groupId: "9", minRank: null, maxRank: null }, nickname: null },
];

const problemsIn = ({ problems }: Pick<PlanStatus, "problems">) =>
  problems.map(({ chatId: user, roleId, reason }) => [user, roleId, reason]);

test("a source that answers nobody holds back its role alone, and its first answer starts a sweep", function* () {
  const { put, runNode, link, linkFirst, unlink, broken, rolesOf, status, takeAsked } = yield* deployment;
  const users = yield* linkFirst(60);
  const newcomer = memberIds[60] ?? "";
  yield* put({ rules: linkedAndGroup });
  broken.areGroupsClosed = true;
  yield* runNode(30);
  const closed = yield* status;
  assert.isNotNull(closed.sweptAt);
  assert.isNull(closed.sweep);
  assert.deepEqual(problemsIn(closed), [[null, officer, "source_closed"]]);
  for (const user of users) assert.deepEqual(yield* rolesOf(user), [verified]);
  yield* pass(60);
  // One member asks for all.
  assert.strictEqual((yield* status).pending, 1);
  takeAsked();
  yield* pass(600, 1);
  assert.isAtMost(takeAsked().length, 25);
  yield* unlink(users[0] ?? "");
  yield* link(users[0] ?? "", "101");
  yield* link(newcomer, "161");
  yield* pass(5);
  assert.deepEqual(yield* rolesOf(newcomer), [verified]);
  assert.strictEqual((yield* status).pending, 1);

  broken.areGroupsClosed = false;
  yield* pass(700, 1);
  for (const user of [...users, newcomer]) assert.deepEqual(yield* rolesOf(user), [verified, officer]);
  assert.deepEqual(problemsIn(yield* status), []);
  assert.strictEqual((yield* status).pending, 0);
});

test("when the member leaves for whom a closed source is asked, the next one asks", function* () {
  const { put, runNode, link, unlink, broken, rolesOf, status } = yield* deployment;
  const [ada = "", bob = "", eve = ""] = memberIds;
  yield* link(ada, "101");
  yield* link(bob, "102");
  yield* put({ rules: linkedAndGroup });
  broken.areGroupsClosed = true;
  yield* runNode(60);
  for (const user of [ada, bob]) yield* unlink(user);
  yield* pass(5);
  assert.strictEqual((yield* status).pending, 0);
  yield* link(eve, "103");
  yield* pass(5);
  assert.strictEqual((yield* status).pending, 1);
  broken.areGroupsClosed = false;
  yield* pass(700, 1);
  assert.deepEqual(yield* rolesOf(eve), [verified, officer]);
});

test("a sweep records nicknames that are right already, and asks for no such member alone", function* () {
  const { put, runNode, link, unlink, member, roles, takeRequests, changes, status } = yield* deployment;
  const users = memberIds.slice(0, 40);
  for (const [index, user] of users.entries()) {
    yield* link(user, String(101 + index));
    yield* roles.setNickname(guildId, chatId(user), `game_${101 + index}`);
  }
  yield* put({ rules: [], nickname: "{game.username}" });
  yield* runNode(30);
  assert.isNotNull((yield* status).sweptAt);
  assert.isAtMost(takeRequests(), 10);
  assert.deepEqual(changes, []);
  yield* unlink(users[0] ?? "");
  yield* pass(5);
  assert.isNull((yield* member(users[0] ?? "")).nickname);
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

test("roles of rules for an age stay while the game tells no ages, and its next answer starts a sweep", function* () {
  const { begin, startNode, startSweep, link, broken, rolesOf, status } = yield* deployment;
  const [ada = "", bob = ""] = memberIds;
  const age = { is: "age", minDays: 30 } as const;
  yield* link(ada, "299");
  yield* begin({
    rules: [
      { roleId: verified, when: { is: "linked" }, nickname: null },
      { roleId: officer, when: age, nickname: null },
      { roleId: guest, when: { is: "not", of: age }, nickname: null },
    ],
    nickname: "{game.username}",
  });
  assert.deepEqual(yield* rolesOf(ada), [verified, officer]);
  broken.areAgesHidden = true;
  yield* startNode();
  yield* startSweep;
  yield* link(bob, "1");
  yield* pass(30);
  assert.deepEqual(
    [yield* rolesOf(ada), yield* rolesOf(bob)],
    [
      [verified, officer],
      [guest, verified],
    ],
  );
  assert.deepEqual(problemsIn(yield* status), [
    [null, officer, "source_closed"],
    [null, guest, "source_closed"],
  ]);
  broken.areAgesHidden = false;
  yield* pass(700, 1);
  assert.deepEqual([yield* rolesOf(ada), problemsIn(yield* status)], [[verified, officer], []]);
});

test("an item or group that does not exist is a problem of the plan, and the item is asked about once in a sweep", function* () {
  const { put, runNode, linkFirst, broken, rolesOf, status, takeAsked } = yield* deployment;
  const users = yield* linkFirst(60);
  broken.isPassGone = true;
  const owner = { is: "owner", item: "gamepass", itemId: "55" } as const;
  const group = { is: "group", groupId: "404", minRank: null, maxRank: null } as const;
  const rules = [owner, group].map((when, index) => ({
    roleId: [officer, guest][index] ?? "",
    when,
    nickname: null,
  }));
  yield* put({ rules: [...usual.rules, ...rules] });
  yield* runNode(40);
  const { sweep, sweptAt, problems, pending } = yield* status;
  assert.deepEqual([sweep, pending, sweptAt === null], [null, 0, false]);
  assert.sameDeepMembers(problemsIn({ problems }), [
    [null, officer, "item_unknown"],
    [null, guest, "item_unknown"],
  ]);
  for (const user of users) assert.deepEqual(yield* rolesOf(user), [verified]);
  // Four members of the sweep are compared at a time, and each is asked about again before a change.
  assert.isAtMost(takeAsked().filter((what) => what.startsWith("item")).length, 4);
});

test("a source that closes between sweeps becomes a problem after 20 questions, and opens by its answer", function* () {
  const { begin, runNode, link, broken, rolesOf, status, takeAsked } = yield* deployment;
  const [ada = "", bob = "", eve = ""] = memberIds;
  yield* begin({ rules: linkedAndGroup });
  yield* runNode(5);
  broken.areGroupsClosed = true;
  yield* link(ada, "101");
  yield* pass(5);
  const problemsNow = Effect.map(status, problemsIn);
  assert.deepEqual([yield* rolesOf(ada), yield* problemsNow], [[verified], []]);
  // Ten minutes of silence close a source too.
  yield* pass(600, 1);
  assert.deepEqual(yield* problemsNow, [[null, officer, "source_closed"]]);
  yield* link(bob, "102");
  yield* link(eve, "103");
  yield* pass(5);
  assert.deepEqual([yield* rolesOf(bob), yield* rolesOf(eve)], [[verified], [verified]]);
  assert.strictEqual((yield* status).pending, 1);
  takeAsked();
  yield* pass(600, 1);
  assert.isAtMost(takeAsked().length, 25);
  broken.areGroupsClosed = false;
  yield* pass(700, 1);
  for (const user of [ada, bob, eve]) assert.deepEqual(yield* rolesOf(user), [verified, officer]);
  assert.deepEqual(yield* problemsNow, []);
});

test("a source that 20 members ask for in vain between sweeps is closed at once", function* () {
  const { begin, runNode, linkFirst, broken, rolesOf, status } = yield* deployment;
  yield* begin({ rules: linkedAndGroup });
  yield* runNode(5);
  broken.areGroupsClosed = true;
  const users = yield* linkFirst(25);
  yield* pass(20);
  const { problems, pending } = yield* status;
  assert.deepEqual(problemsIn({ problems }), [[null, officer, "source_closed"]]);
  assert.strictEqual(pending, 1);
  for (const user of users) assert.deepEqual(yield* rolesOf(user), [verified]);
});
