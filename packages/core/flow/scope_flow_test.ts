import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { Limits } from "../limits/quota.ts";
import { newGuildKey, origin } from "../sessions/test_sessions.ts";
import { chatId, guildId } from "../test_world.ts";
import { flowWorld, reasonOf, setupFlow as setup } from "./test_flows.ts";

const ada = chatId("10001");
const life = 300_000;

const oneADay = flowWorld.pipe(
  Layer.provide(
    Layer.effect(
      Limits,
      Effect.map(Limits, (usual) => ({ ...usual, address: { ...usual.address, verifyDaily: 1 } })),
    ),
  ),
);

describe("A flow without a session", () => {
  it.effect("counts against the verify day of its address, unlike one with a session", () =>
    Effect.gen(function* () {
      const { browser, byScope, entry } = yield* setup();
      yield* browser.walk(byScope);
      yield* browser.confirm(byScope);
      yield* browser.walk(entry);
      yield* browser.confirm(entry);
      yield* browser.walk(byScope);
      const refused = yield* Effect.flip(browser.confirm(byScope));
      assert.deepInclude(refused, { _tag: "SharedIpRateLimited", bucket: "ip_verify_day", limit: 1 });
      assert.isNull((yield* browser.confirm(byScope, "203.0.113.8")).redirect);
    }).pipe(Effect.provide(oneADay)),
  );

  it.effect("redirects only to origins of active keys of its scope", () =>
    Effect.gen(function* () {
      const { browser, byScope, disable } = yield* setup();
      const to = (redirect: string) => browser.show({ ...byScope, redirect });
      assert.strictEqual((yield* to(`${origin}/done`)).redirect, `${origin}/done`);
      const wrong = [
        "https://evil.example/",
        `${origin}:8443/`,
        `${origin}.evil.example/`,
        "https://client.example@evil.example/",
        "https:\\\\evil.example\\@client.example/",
        "//client.example/",
        "/done",
        "javascript:alert(1)",
        "data:text/html,x",
      ];
      for (const redirect of wrong)
        assert.strictEqual(yield* reasonOf(to(redirect)), "bad_redirect", redirect);

      const elsewhere = yield* newGuildKey;
      const inGuild = { pid: elsewhere.scope.pid, guildId: null, redirect: `${origin}/done` };
      assert.strictEqual((yield* browser.show(inGuild)).guild?.id, guildId);
      yield* disable;
      assert.strictEqual(yield* reasonOf(to(`${origin}/done`)), "unknown");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("loses its proofs by a removal of either kind", () =>
    Effect.gen(function* () {
      const { browser, byScope, link, removals, gameOf } = yield* setup();
      for (const removal of Object.values(removals)) {
        yield* link("2");
        yield* browser.walk(byScope);
        const form = yield* browser.form(byScope);
        yield* removal;
        assert.strictEqual(yield* reasonOf(browser.send(form)), "link_changed");
        assert.strictEqual(yield* reasonOf(browser.leave("game")), "link_changed");
        assert.isNull((yield* browser.show(byScope)).chat);
        assert.isNull(yield* gameOf);
        yield* browser.walk(byScope);
        yield* browser.confirm(byScope);
      }
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("loses the first proof by a removal during the second sign-in", () =>
    Effect.gen(function* () {
      const { browser, byScope, link, removals } = yield* setup();
      yield* link("2");
      yield* browser.prove("chat", ada, byScope);
      const state = yield* browser.leave("game");
      yield* removals.unlink;
      assert.strictEqual(yield* reasonOf(browser.comeBack("game", state, "1")), "link_changed");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("expires", () =>
    Effect.gen(function* () {
      const { browser, byScope } = yield* setup();
      yield* browser.walk(byScope);
      const form = yield* browser.form(byScope);
      const state = yield* browser.leave("chat");
      yield* TestClock.adjust(life);
      assert.strictEqual(yield* reasonOf(browser.send(form)), "expired");
      assert.strictEqual(yield* reasonOf(browser.cancel(form)), "expired");
      assert.strictEqual(yield* reasonOf(browser.leave("game")), "expired");
      assert.strictEqual(yield* reasonOf(browser.comeBack("chat", state, "10001")), "expired");
      assert.deepInclude(yield* browser.show(byScope), { chat: null, expiresAt: 2 * life });
    }).pipe(Effect.provide(flowWorld)),
  );
});
