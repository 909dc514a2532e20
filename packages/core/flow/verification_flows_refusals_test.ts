import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { newGuildKey } from "../sessions/test_sessions.ts";
import { botlessGuildId, chatId, gameId, guildId, later } from "../test_world.ts";
import { ChatPlatformSwitch, flowWorld, newBrowser, reasonOf, setupFlow as setup } from "./test_flows.ts";

const ada = chatId("10001");
const life = 300_000;

describe("VerificationFlows refuses a browser", () => {
  it.effect("with an unknown entry, or without an active key", () =>
    Effect.gen(function* () {
      const { browser, entry, byScope, disable } = yield* setup();
      const unknown = [
        { sid: `vs_${"0".repeat(43)}` },
        { sid: "vs_" },
        { ...byScope, pid: "pid_0000000000000000" },
        { ...byScope, pid: "pid_" },
      ];
      for (const wrong of unknown) assert.strictEqual(yield* reasonOf(browser.show(wrong)), "unknown");
      yield* browser.walk(entry);
      const form = yield* browser.form(entry);
      const other = yield* newBrowser;
      yield* other.walk(byScope, "10002", "2");
      const formByScope = yield* other.form(byScope);
      yield* disable;
      for (const link of [entry, byScope]) {
        assert.strictEqual(yield* reasonOf(browser.show(link)), "unknown");
        assert.strictEqual(yield* reasonOf(browser.leave("chat", link)), "unknown");
      }
      assert.strictEqual(yield* reasonOf(browser.send(form)), "unknown");
      assert.strictEqual(yield* reasonOf(other.send(formByScope)), "unknown");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("for a guild of another scope, or without the bot", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("for a user who is not, or no longer, in the guild", () =>
    Effect.gen(function* () {
      const chat = yield* ChatPlatformSwitch;
      const { browser, entry } = yield* setup({ guildId });
      assert.strictEqual(yield* reasonOf(browser.prove("chat", "10020", entry)), "not_a_member");
      yield* browser.walk(entry);
      chat.hasMembers = false;
      assert.strictEqual(yield* reasonOf(browser.confirm(entry)), "not_a_member");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("for a user who is not in the guild by the sign-in, without asking the platform", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("for another chat user than that of the session", () =>
    Effect.gen(function* () {
      const { browser, entry, gameOf } = yield* setup({ chatId: ada });
      assert.strictEqual(yield* reasonOf(browser.prove("chat", "10002", entry)), "wrong_user");
      assert.isNull((yield* browser.show(entry)).chat);
      yield* browser.walk(entry);
      yield* browser.confirm(entry);
      assert.strictEqual(yield* gameOf, gameId("1"));
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("while a platform does not answer", () =>
    Effect.gen(function* () {
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
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("for a sign-in that was denied, is of another browser, or was used", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      const other = yield* newBrowser;
      yield* other.leave("chat", entry);
      const denied = { error: "access_denied" };
      assert.strictEqual(yield* reasonOf(browser.prove("chat", denied, entry)), "denied");
      assert.strictEqual(yield* reasonOf(browser.prove("chat", "99999")), "sign_in_invalid");
      const state = yield* browser.leave("chat");
      assert.strictEqual(yield* reasonOf(other.comeBack("chat", state, "10001")), "sign_in_invalid");
      yield* browser.comeBack("chat", state, "10001");
      assert.strictEqual(yield* reasonOf(browser.comeBack("chat", state, "10001")), "sign_in_invalid");
      const ofGame = yield* browser.leave("game");
      assert.strictEqual(yield* reasonOf(browser.comeBack("chat", ofGame, "10001")), "sign_in_invalid");
      assert.strictEqual(yield* reasonOf(browser.comeBack("game", ofGame, "1")), "sign_in_invalid");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("without a flow, or without both proofs", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
      assert.strictEqual(yield* reasonOf(browser.comeBack("chat", "state", "10001")), "lost");
      assert.strictEqual(yield* reasonOf(browser.leave("game", entry)), "unfinished");
      assert.strictEqual(yield* reasonOf(browser.confirm(entry)), "lost");
      yield* browser.prove("chat", "10001", entry);
      assert.strictEqual(yield* reasonOf(browser.confirm(entry)), "unfinished");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("for a form of another page", () =>
    Effect.gen(function* () {
      const { browser, entry, byScope } = yield* setup();
      const other = yield* newBrowser;
      yield* browser.walk(entry);
      const sent = [
        { csrf: null, sid: entry.sid },
        { csrf: "", sid: entry.sid },
        yield* other.form(entry),
        yield* browser.form(byScope),
      ];
      for (const form of sent) {
        assert.strictEqual(yield* reasonOf(browser.send(form)), "forged");
        assert.strictEqual(yield* reasonOf(browser.cancel(form)), "forged");
      }
      yield* browser.confirm(entry);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("when the link changed since it was shown", () =>
    Effect.gen(function* () {
      const { browser, entry, link, read, gameOf } = yield* setup();
      yield* browser.walk(entry);
      yield* link("2");
      assert.strictEqual(yield* reasonOf(browser.confirm(entry)), "link_changed");
      assert.deepStrictEqual([yield* gameOf, (yield* read).state], [gameId("2"), "opened"]);
      yield* browser.walk(entry);
      yield* browser.confirm(entry);
      assert.deepInclude(yield* read, { state: "completed", previousGameId: gameId("2") });
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("when its session has ended, with its final state", () =>
    Effect.gen(function* () {
      const cancelled = yield* setup();
      yield* cancelled.browser.walk(cancelled.entry);
      yield* cancelled.cancelSession;
      const failed = yield* setup();
      yield* failed.link("2");
      yield* failed.browser.walk(failed.entry);
      yield* failed.removals.unlink;
      const completed = yield* setup();
      yield* completed.browser.walk(completed.entry);
      const form = yield* completed.browser.form(completed.entry);
      yield* completed.browser.send(form);
      assert.strictEqual(yield* reasonOf(completed.browser.send(form)), "over completed");
      for (const [how, { browser, entry }] of Object.entries({ cancelled, failed, completed })) {
        assert.strictEqual(yield* reasonOf(browser.show(entry)), `over ${how}`);
        assert.strictEqual(yield* reasonOf(browser.leave("chat", entry)), `over ${how}`);
      }
      assert.isNull(yield* failed.gameOf);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("after the deadline of its session, which is unknown a day later", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      yield* browser.walk(entry);
      const form = yield* browser.form(entry);
      const state = yield* browser.leave("chat");
      yield* TestClock.adjust(life);
      assert.strictEqual(yield* reasonOf(browser.show(entry)), "expired");
      assert.strictEqual(yield* reasonOf(browser.send(form)), "expired");
      assert.strictEqual(yield* reasonOf(browser.cancel(form)), "expired");
      assert.strictEqual(yield* reasonOf(browser.comeBack("chat", state, "10001")), "expired");
      assert.strictEqual(yield* reasonOf(later("1 day")(browser.show(entry))), "unknown");
    }).pipe(Effect.provide(flowWorld)),
  );
});
