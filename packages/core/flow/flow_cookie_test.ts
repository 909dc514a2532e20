import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { origin } from "../sessions/test_sessions.ts";
import { chatId, gameId } from "../test_world.ts";
import { flowWorld, newBrowser, reasonOf, setupFlow as setup } from "./test_flows.ts";

const ada = chatId("10001");

describe("The cookie of a flow", () => {
  it.effect("holds the last entry of the browser", () =>
    Effect.gen(function* () {
      const { browser, byScope, entry, gameOf, read } = yield* setup();
      yield* browser.show(byScope);
      yield* browser.show(entry);
      assert.strictEqual((yield* read).state, "pending");
      yield* browser.prove("chat", "10001");
      yield* browser.prove("game", "1");
      yield* browser.confirm(entry);
      assert.strictEqual(yield* gameOf, gameId("1"));
      assert.strictEqual((yield* read).state, "completed");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("holds no entry that is too long for a cookie", () =>
    Effect.gen(function* () {
      const { browser, byScope } = yield* setup();
      const long = { ...byScope, redirect: `${origin}/${"ä".repeat(2_000)}` };
      yield* browser.show(long);
      assert.isBelow(browser.jar.cookie?.length ?? 0, 100);
      assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
      yield* browser.leave("chat", long);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("is useless with a changed entry", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      yield* browser.show(entry);
      const [token, deadline] = browser.jar.cookie?.split(".") ?? [];
      for (const mark of ["", "x", "bnVsbA", "eyJzaWQiOjF9"]) {
        browser.jar.cookie = `${token}.${deadline}.${mark}`;
        assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
      }
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("changes with each proof, so that an earlier one is useless", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      const thief = yield* newBrowser;
      yield* browser.leave("chat", entry);
      thief.jar.cookie = browser.jar.cookie;
      yield* browser.walk(entry);
      assert.isNull((yield* thief.show(entry)).chat);
      assert.strictEqual(yield* reasonOf(thief.confirm(entry)), "lost");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("loses earlier sign-ins with a proof", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      const attacker = yield* newBrowser;
      const planted = yield* attacker.leave("chat", entry);
      browser.jar.cookie = attacker.jar.cookie;
      yield* browser.prove("chat", "10001", entry);
      assert.strictEqual(yield* reasonOf(browser.comeBack("chat", planted, "10002")), "sign_in_invalid");
      assert.strictEqual((yield* browser.show(entry)).chat?.id, ada);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("stands for one flow: starting another ends the first in this browser", () =>
    Effect.gen(function* () {
      const one = yield* setup();
      const other = yield* setup();
      yield* one.browser.walk(one.entry);
      const form = yield* one.browser.form(one.entry);
      yield* one.browser.show(other.entry);
      assert.strictEqual((yield* one.browser.show(one.entry)).game?.id, gameId("1"));
      yield* one.browser.walk(other.entry, "10001", "2");
      assert.strictEqual(yield* reasonOf(one.browser.send(form)), "forged");
      yield* one.browser.confirm(other.entry);
      assert.isNull(yield* one.gameOf);
      assert.strictEqual(yield* other.gameOf, gameId("2"));
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("is replaced when it is invalid", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      for (const cookie of ["", "x", `${"0".repeat(43)}.0`, "0".repeat(43)]) {
        browser.jar.cookie = cookie;
        yield* browser.show(entry);
        assert.notStrictEqual(browser.jar.cookie, cookie);
      }
    }).pipe(Effect.provide(flowWorld)),
  );
});
