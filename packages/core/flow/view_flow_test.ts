import { assert, testWith } from "@accountlink/test-servers/effect";
import { Accounts } from "../accounts/accounts.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { newGuildKey } from "../sessions/test_sessions.ts";
import { chatId, guildId, operator } from "../test_services.ts";
import { ChatPlatformSwitch, flowServices, setupFlow as setup } from "./test_flows.ts";

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
const unnamed = { id: guildId, name: null };

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

test("a page looks up a guild only after a key or a signed-in member has named this guild in the flow", function* () {
  const { browser, byScope } = yield* setup();
  const inGuild = { ...byScope, guildId };
  assert.isNull((yield* browser.show(byScope)).guild);
  assert.deepStrictEqual((yield* browser.show(inGuild)).guild, unnamed);
  yield* browser.leave("chat", inGuild);
  assert.deepStrictEqual((yield* browser.show(inGuild)).guild, unnamed);
  yield* browser.prove("chat", ada, inGuild);
  assert.deepStrictEqual((yield* browser.show(inGuild)).guild, named);
});
