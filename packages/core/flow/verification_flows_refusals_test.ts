import { assert, testWith } from "@accountlink/test-servers/effect";
import { newGuildKey } from "../sessions/test_sessions.ts";
import { botlessGuildId, chatId, guildId } from "../test_services.ts";
import { ChatPlatformSwitch, flowServices, reasonOf, setupFlow as setup } from "./test_flows.ts";

const ada = chatId("10001");

const test = testWith(flowServices);

test("a flow refuses a guild of another scope, and a guild without the bot", function* () {
  const { browser, byScope } = yield* setup();
  const guildKey = yield* newGuildKey;
  const inGuild = { pid: guildKey.scope.pid, guildId: null, redirect: null };
  const prove = (guild: string | null, from = byScope) =>
    browser.prove("chat", ada, { ...from, guildId: guild });
  assert.strictEqual(yield* reasonOf(prove("700")), "no_guild");
  assert.strictEqual(yield* reasonOf(prove(botlessGuildId, inGuild)), "no_guild");
  assert.strictEqual(yield* reasonOf(prove(botlessGuildId)), "no_guild");
  yield* prove(guildId);
  yield* prove(null, inGuild);
});

test("a flow refuses a user if the sign-in says that they are not a member, without asking the platform", function* () {
  const chat = yield* ChatPlatformSwitch;
  const { browser, entry, byScope } = yield* setup({ guildId });
  chat.isMemberBySignIn = false;
  assert.strictEqual(yield* reasonOf(browser.prove("chat", "10001", entry)), "not_a_member");
  const botless = { ...byScope, guildId: botlessGuildId };
  assert.strictEqual(yield* reasonOf(browser.prove("chat", "10001", botless)), "no_guild");
  chat.isMemberBySignIn = true;
  chat.hasMembers = false;
  yield* browser.walk(entry);
  assert.strictEqual(yield* reasonOf(browser.confirm(entry)), "not_a_member");
  chat.hasMembers = true;
  yield* browser.confirm(entry);
});

test("a flow refuses every step while a platform does not answer", function* () {
  const chat = yield* ChatPlatformSwitch;
  const { browser, entry } = yield* setup({ guildId });
  chat.isDown = true;
  assert.strictEqual(yield* reasonOf(browser.prove("chat", "10001", entry)), "platform_down");
  chat.isDown = false;
  yield* browser.walk(entry);
  chat.isDown = true;
  assert.strictEqual(yield* reasonOf(browser.confirm(entry)), "platform_down");
  chat.isDown = false;
  yield* browser.confirm(entry);
});

test("a flow loses its first proof if the user's link is removed during the second sign-in", function* () {
  const { browser, byScope, link, unlink } = yield* setup();
  yield* link("2");
  yield* browser.prove("chat", ada, byScope);
  const state = yield* browser.leave("game");
  yield* unlink;
  assert.strictEqual(yield* reasonOf(browser.comeBack("game", state, "1")), "link_changed");
});
