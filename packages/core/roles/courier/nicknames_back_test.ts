import { assert } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { ChatPlatform } from "../../platforms/chat_platform.ts";
import { chatId, guildId, operator, scopes } from "../../test_services.ts";
import { RolePlans } from "../role_plans.ts";
import { deployment, memberIds, pass, test } from "./test_deployment.ts";

const users = memberIds.slice(0, 9);

/** Members whose own nicknames the rules have replaced, and rules that leave nicknames alone since. */
const renamed = Effect.gen(function* () {
  const guild = yield* deployment;
  const { roles } = yield* ChatPlatform;
  assert(roles !== undefined);
  for (const [index, user] of users.entries()) {
    yield* guild.link(user, String(index + 1));
    yield* roles.setNickname(guildId, chatId(user), `own ${user}`);
  }
  yield* guild.begin({ rules: [], nickname: "{game.username}" });
  const plans = yield* RolePlans;
  const { guild: scope } = yield* scopes;
  const nicknames = Effect.map(Effect.forEach(users, guild.member), (all) =>
    all.map(({ nickname }) => nickname),
  );
  const own = users.map((user) => `own ${user}`);
  assert.notDeepEqual(yield* nicknames, own);
  yield* guild.put({ rules: [], nickname: null, state: "paused" });
  return {
    ...guild,
    nicknames,
    own,
    plans,
    isRunning: plans.isPuttingBack(scope, guildId),
    left: plans.countNicknamesBefore(scope, guildId),
    putBack: plans.putNicknamesBack(scope, guildId, operator),
  };
});

test("nicknames go on being put back on another node, from where the first one stopped", function* () {
  const { putBack, startNode, changes, left, isRunning, nicknames, own } = yield* renamed;
  yield* putBack;
  const first = yield* startNode("first");
  while (changes.length < 3) yield* pass(0.1, 0.1);
  yield* first.stop;
  const stoppedAt = changes.length;
  yield* pass(5);
  assert.strictEqual(changes.length, stoppedAt);
  assert.strictEqual(yield* isRunning, true);
  assert.isAtLeast(yield* left, users.length - stoppedAt);
  yield* startNode("second");
  yield* pass(15);
  assert.deepEqual(yield* nicknames, own);
  assert.deepEqual([yield* left, yield* isRunning], [0, false]);
  assert.isAtMost(changes.length, users.length);
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
