import { assert, testWith } from "@accountlink/test-servers/effect";
import { TestClock } from "effect/testing";
import { Accounts } from "../accounts/accounts.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { StoredPlans } from "../roles/stored_plans.ts";
import { newGuildKey } from "../sessions/test_sessions.ts";
import { chatId, guildId, operator } from "../test_services.ts";
import { ChatPlatformSwitch, flowServices, reasonOf, setupFlow as setup } from "./test_flows.ts";

const ada = chatId("10001");

const test = testWith(flowServices);

test("a page reads the chat account without its guild membership, because no page shows it", function* () {
  const { browser, entry } = yield* setup({ guildId });
  yield* browser.walk(entry);
  const { chat } = yield* browser.show(entry);
  assert.deepInclude(chat?.profile, { username: "chat 10001", guild: null });
  const done = yield* browser.confirm(entry);
  assert.isNull(done.redirect);
  if (done.redirect === null) assert.isNull(done.chat.profile?.guild);
});

const named = { id: guildId, name: "Engine Room" };

test("a page of a guild scope names the guild, or the account if the platform does not answer", function* () {
  const { browser } = yield* setup();
  const { pid, account } = (yield* newGuildKey).scope;
  const ofScope = { pid, guildId: null, redirect: null };
  assert.strictEqual((yield* browser.show(ofScope)).asking, "Engine Room");
  (yield* ChatPlatformSwitch).isDown = true;
  assert.strictEqual((yield* browser.show(ofScope)).asking, account);
});

test("a page of a global scope names the account's owner by the platform, never a generated account name", function* () {
  const { browser } = yield* setup();
  const account = yield* (yield* Accounts).ofChatUser(ada);
  assert.strictEqual(account.name, "chat:10001");
  const { key } = yield* (yield* ApiKeys).create({ account, target: { kind: "global" } }, operator);
  const ofScope = { pid: key.scope.pid, guildId: null, redirect: null };
  assert.strictEqual((yield* browser.show(ofScope)).asking, "chat 10001");
});

test("a guild in the URL of a global scope holds if the account manages it, or if the scope's plan is on there", function* () {
  const { browser } = yield* setup();
  const { scope } = (yield* ApiKeys.use((keys) =>
    keys.create(
      { account: { name: "club", chatId: ada, tier: "free" }, target: { kind: "global" } },
      operator,
    ),
  )).key;
  const inGuild = { pid: scope.pid, guildId, redirect: null };
  assert.strictEqual(yield* reasonOf(browser.show(inGuild)), "unknown");
  const plan = { rules: [], nickname: null, state: "on" } as const;
  yield* StoredPlans.use((plans) => plans.put(scope, guildId, plan, operator));
  assert.deepStrictEqual((yield* browser.show(inGuild)).guild, named);
  yield* StoredPlans.use((plans) => plans.put(scope, guildId, { ...plan, state: "paused" }, operator));
  assert.strictEqual(yield* reasonOf(browser.show(inGuild)), "unknown");
  (yield* ChatPlatformSwitch).isManager = true;
  yield* TestClock.adjust("10 minutes");
  assert.deepStrictEqual((yield* browser.show(inGuild)).guild, named);
});
