import { assert } from "@accountlink/test-servers/effect";
import { Clock, Effect } from "effect";
import { AuditLog } from "../../audit/audit.ts";
import { chatId, guildId, operator } from "../../test_services.ts";
import { recordedChanges } from "../recorded_changes.ts";
import { RoleHistoryStore } from "../role_history_store.ts";
import { deployment, memberIds, pass, test, usual, verified } from "./test_deployment.ts";

const users = memberIds.slice(0, 9);

/** Members whose own nicknames the rules have replaced, and rules that leave nicknames alone since. */
const renamed = Effect.gen(function* () {
  const deployed = yield* deployment;
  const { guild, plans, roles, scope } = deployed;
  for (const [index, user] of users.entries()) {
    yield* deployed.link(user, String(index + 1));
    yield* roles.setNickname(guildId, chatId(user), `own ${user}`);
  }
  yield* deployed.begin({ rules: [], nickname: "{game.username}" });
  const nicknames = Effect.map(Effect.forEach(users, deployed.member), (all) =>
    all.map(({ nickname }) => nickname),
  );
  const own = users.map((user) => `own ${user}`);
  assert.notDeepEqual(yield* nicknames, own);
  yield* deployed.put({ rules: [], nickname: null, state: "paused" });
  const entries = AuditLog.use((log) => log.list(scope.account, null, 100));
  return {
    ...deployed,
    nicknames,
    own,
    asked: Effect.map(
      entries,
      (log) => log.entries.filter(({ action }) => action === "nicknames.put_back").length,
    ),
    isRunning: plans.isPuttingBack(guild),
    left: plans.countNicknamesBefore(guild),
    putBack: plans.putNicknamesBack(guild, operator),
  };
});

test("nicknames are put back once, however often that is asked for, and another node goes on for a dead one", function* () {
  const { asked, putBack, runNode, startNode, changes, left, isRunning, nicknames, own } = yield* renamed;
  yield* putBack;
  yield* putBack;
  const first = yield* startNode("first");
  while (changes.length < 3) yield* pass(0.1, 0.1);
  // As if it were killed: what it has just changed on the platform is not stored any more.
  first.cut();
  yield* first.stop;
  const stoppedAt = changes.length;
  yield* pass(5);
  assert.strictEqual(changes.length, stoppedAt);
  assert.strictEqual(yield* isRunning, true);
  assert.isAtLeast(yield* left, users.length - stoppedAt);
  yield* putBack;
  yield* runNode(20, "second");
  assert.deepEqual(yield* nicknames, own);
  assert.deepEqual([yield* left, yield* isRunning, yield* asked], [0, false, 1]);
  yield* putBack;
  yield* pass(10);
  assert.deepEqual([yield* nicknames, yield* isRunning], [own, false]);
  assert.strictEqual(changes.length, users.length);
});

test("nicknames that cannot be put back stay kept, and are tried again", function* () {
  const { broken, changes, isRunning, left, nicknames, own, putBack, roles, startNode } = yield* renamed;
  const [ada = "", bob = "", cyd = ""] = users;
  yield* startNode();
  broken.hasBot = false;
  yield* putBack;
  yield* pass(15);
  assert.deepEqual([yield* left, yield* isRunning, changes.length], [users.length, false, 0]);
  broken.hasBot = true;
  broken.gone.add(ada);
  broken.refused.add(bob);
  yield* roles.setNickname(guildId, chatId(cyd), "new cyd");
  yield* putBack;
  yield* pass(15);
  assert.deepEqual([yield* left, yield* isRunning], [2, false]);
  broken.gone.clear();
  broken.refused.clear();
  yield* putBack;
  yield* pass(15);
  assert.strictEqual(yield* left, 0);
  assert.deepEqual(yield* nicknames, own.with(2, "new cyd"));
});

test("nicknames are no longer put back once the rules set them again", function* () {
  const { putBack, put, startNode, changes, isRunning } = yield* renamed;
  yield* putBack;
  yield* startNode();
  while (changes.length < 3) yield* pass(0.1, 0.1);
  yield* put({ rules: [], nickname: "{game.username}" });
  yield* pass(5);
  assert.strictEqual(yield* isRunning, false);
});

const operatorTook = { roleId: verified, change: "took" } as const;

const countVerified = (
  of: ReadonlyArray<string>,
  { rolesOf }: Pick<Effect.Success<typeof deployment>, "rolesOf">,
) => Effect.map(Effect.forEach(of, rolesOf), (all) => all.filter((ids) => ids.includes(verified)).length);

/** Members who had a role by the rules, which then took it from all of them. */
const taken = Effect.gen(function* () {
  const deployed = yield* deployment;
  const { guild, place, plans } = deployed;
  for (const [index, user] of users.entries()) yield* deployed.link(user, String(index + 1));
  yield* deployed.begin();
  const history = yield* RoleHistoryStore;
  const since = yield* Clock.currentTimeMillis;
  yield* pass(1);
  for (const user of users) yield* deployed.unlink(user);
  const { stop } = yield* deployed.startNode();
  yield* pass(10);
  yield* stop;
  deployed.changes.length = 0;
  return {
    ...deployed,
    history,
    left: history.count(place, operatorTook, since),
    pending: plans.countPending(guild),
    putBack: plans.putRolesBack(guild, since, operator),
    verified: countVerified(users, deployed),
    because: (user: string) =>
      Effect.map(plans.roleHistory(guild, null, 1_000), (changes) =>
        changes
          .filter((change) => change.chatId === user && change.roleId === verified)
          .map(({ change, because }) => [change, because]),
      ),
  };
});

test("roles that the rules took are given back once, over nodes, and the rules are paused", function* () {
  const { because, changes, left, pending, putBack, runNode, startNode, state, verified: has } = yield* taken;
  assert.deepEqual([yield* has, yield* left, yield* state], [0, users.length, "on"]);
  assert.strictEqual(yield* putBack, users.length);
  assert.strictEqual(yield* putBack, users.length);
  assert.strictEqual(yield* state, "paused");
  const first = yield* startNode("first");
  while (changes.length < 3) yield* pass(0.1, 0.1);
  yield* first.stop;
  assert.isAtLeast(yield* pending, users.length - changes.length);
  yield* runNode(15, "second");
  assert.deepEqual([yield* has, yield* left, yield* pending], [users.length, 0, 0]);
  assert.strictEqual(changes.length, users.length);
  assert.deepEqual(yield* because(users[0] ?? ""), [
    ["gave", "put_back"],
    ["took", "link"],
    ["gave", "sweep"],
  ]);
  assert.strictEqual(yield* putBack, 0);
});

test("a role whose node died before the platform was asked is given back by another node", function* () {
  const { changes, history, left, pending, place, putBack, runNode, verified: has } = yield* taken;
  yield* putBack;
  const dying = { ...place, chatId: chatId(users[0] ?? ""), because: "put_back" } as const;
  yield* history.begin({
    ...dying,
    changes: [{ roleId: verified, change: "gave" }],
    at: yield* Clock.currentTimeMillis,
  });
  assert.deepEqual([yield* left, yield* pending], [users.length, users.length]);
  yield* runNode(15);
  assert.deepEqual([yield* has, yield* left, yield* pending], [users.length, 0, 0]);
  assert.strictEqual(changes.length, users.length);
});

test("who has left, who has the role again, and what the platform refuses stay as they are", function* () {
  const { changes, broken, left, pending, putBack, roles, runNode } = yield* taken;
  const [ada = "", bob = "", cyd = ""] = users;
  yield* roles.addRole(guildId, chatId(ada), verified);
  broken.gone.add(bob);
  broken.refused.add(cyd);
  yield* putBack;
  yield* runNode(15);
  // Bob may come back, the platform may allow it, and the roles may be given back again.
  assert.deepEqual([yield* left, yield* pending], [2, 0]);
  assert.strictEqual(changes.length, users.length - 3);
  broken.refused.clear();
  assert.strictEqual(yield* putBack, 2);
  yield* pass(10);
  assert.deepEqual([yield* left, changes.at(-1)?.chatId], [1, cyd]);
  broken.gone.clear();
  assert.strictEqual(yield* putBack, 1);
  yield* pass(10);
  assert.deepEqual([yield* left, changes.at(-1)?.chatId], [0, bob]);
});

test("roles are no longer given back once the rules are on again", function* () {
  const { changes, pending, put, putBack, startNode } = yield* taken;
  yield* putBack;
  yield* startNode();
  while (changes.length < 3) yield* pass(0.1, 0.1);
  yield* put();
  yield* pass(10);
  assert.strictEqual(yield* pending, 0);
  const added = changes.filter(({ what, value }) => what === "add" && value === verified);
  assert.isBelow(added.length, users.length);
});

test("a change that a dying node made is in the history", function* () {
  const { history, because, place, roles } = yield* taken;
  const [ada = ""] = users;
  const change = { ...place, chatId: chatId(ada), because: "sweep", at: 1 } as const;
  const begun = { ...change, changes: [{ roleId: verified, change: "gave" as const }] };
  const dying = recordedChanges(history, begun, (outcomes) => {
    outcomes.set(verified, "unknown");
    return Effect.andThen(roles.addRole(guildId, chatId(ada), verified), Effect.interrupt);
  });
  yield* Effect.exit(dying);
  assert.deepEqual((yield* because(ada))[0], ["gave", "sweep"]);
});

test("roles that are given back while they are taken stay when the rules are on again", function* () {
  const { begin, changes, guild, link, member, plans, put, startNode } = yield* deployment;
  for (const [index, user] of users.entries()) yield* link(user, String(index + 1));
  yield* begin({ rules: usual.rules.slice(0, 1) });
  const [, ...rules] = usual.rules;
  yield* put({ rules, take: [verified] });
  yield* startNode();
  while (changes.length < 3) yield* pass(0.1, 0.1);
  yield* plans.putRolesBack(guild, 0, operator);
  yield* pass(10);
  yield* put({ rules });
  yield* pass(15);
  for (const user of users) assert.include((yield* member(user)).roleIds, verified);
});

test("a role that no rule names any more is taken from the members who have it by the rules", function* () {
  const deployed = yield* deployment;
  const { changes, guild, link, plans, preview, put, begin, roles, runNode, state } = deployed;
  for (const [index, user] of users.entries()) yield* link(user, String(index + 1));
  yield* begin({ rules: usual.rules.slice(0, 1) });
  const other = memberIds[20] ?? "";
  yield* roles.addRole(guildId, chatId(other), verified);
  const [, ...rules] = usual.rules;
  const has = countVerified([...users, other], deployed);
  const unnamed = Effect.gen(function* () {
    const read = yield* preview({ rules });
    yield* pass(5);
    return (yield* read).unnamed;
  });
  // A moderator has taken the role from one of them.
  const ada = chatId(users[0] ?? "");
  yield* roles.removeRole(guildId, ada, verified);
  assert.deepEqual(yield* unnamed, [{ roleId: verified, count: users.length - 1 }]);
  yield* roles.addRole(guildId, ada, verified);
  assert.deepEqual(yield* unnamed, [{ roleId: verified, count: users.length }]);
  yield* put({ rules, state: "paused", take: [verified] });
  yield* runNode(10);
  // Paused rules take nothing.
  assert.strictEqual(yield* has, users.length + 1);
  // Nor do rules that are turned on without taking it.
  yield* put({ rules, take: [] });
  yield* pass(10);
  assert.strictEqual(yield* has, users.length + 1);
  yield* put({ rules, state: "paused", take: [verified] });
  yield* put({ rules });
  // The same rules, saved again, go on taking the role.
  yield* put({ rules, take: [] });
  assert.strictEqual(yield* plans.countPending(guild, "gave"), users.length);
  yield* pass(15);
  assert.strictEqual(yield* plans.countPending(guild, "gave"), 0);
  assert.deepEqual([yield* has, yield* state], [1, "on"]);
  assert.deepEqual(yield* unnamed, []);
  const ofVerified = changes.filter(({ what, value }) => what === "remove" && value === verified);
  assert.strictEqual(ofVerified.length, users.length);
  assert.include(yield* Effect.flip(put({ rules: usual.rules, take: [verified] })), {
    _tag: "InvalidParameter",
  });
});
