import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Logger, Metric, References } from "effect";
import { Base64Url } from "effect/encoding";
import { TestClock } from "effect/testing";
import { flowSteps } from "../internal/flow_events.ts";
import {
  ChatPlatformSwitch,
  flowWorld,
  flowWorldWith,
  newBrowser,
  reasonOf,
  setupFlow as setup,
} from "../internal/test_flows.ts";
import { newGuildKey, origin, sessionIdOf } from "../internal/test_sessions.ts";
import { address, chatId, gameId, guildId } from "../internal/test_world.ts";
import { AuditLog } from "../ports/audit_log.ts";
import type { CompleteFlow } from "../ports/session_store.ts";
import { Limits } from "../quota.ts";
import { SessionSettings } from "../session_settings.ts";
import { AddressVault } from "./address_vault.ts";
import { Secrets } from "./secrets.ts";
import { VerificationSessions } from "./verification_sessions.ts";

const ada = chatId("10001");
const life = 300_000;

describe("VerificationFlows", () => {
  it.effect("takes a browser from the link to a stored link", () =>
    Effect.gen(function* () {
      const { browser, entry, key, read, gameOf } = yield* setup();
      const page = yield* browser.show(entry);
      const unproven = { chat: null, game: null, replaces: null, redirect: null };
      assert.deepInclude(page, { ...unproven, asking: key.scope.account, sid: entry.sid, expiresAt: life });
      assert.strictEqual((yield* read).state, "pending");

      const state = yield* browser.leave("chat", entry);
      assert.strictEqual((yield* read).state, "opened");
      assert.deepStrictEqual((yield* browser.comeBack("chat", state, "10001")).entry, entry);
      const half = yield* browser.show(entry);
      assert.strictEqual(half.chat?.profile?.username, "chat 10001");
      assert.isNull(half.game);
      yield* browser.prove("game", "1");
      const { chat, game, replaces } = yield* browser.show(entry);
      assert.deepStrictEqual([chat?.id, game?.id, replaces], [ada, gameId("1"), null]);
      assert.isNull(yield* gameOf);

      assert.deepInclude(yield* browser.confirm(entry), { redirect: null, linkChanged: true });
      const told = { state: "completed", chatId: ada, linkChanged: true, previousGameId: null } as const;
      assert.deepInclude(yield* read, told);
      assert.strictEqual(yield* gameOf, gameId("1"));
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("shows what would be replaced, and tells the client what was", () =>
    Effect.gen(function* () {
      const { browser, entry, link, read } = yield* setup();
      yield* link("2");
      yield* browser.walk(entry);
      assert.strictEqual((yield* browser.show(entry)).replaces?.id, gameId("2"));
      assert.deepInclude(yield* browser.confirm(entry), { linkChanged: true });
      assert.deepInclude(yield* read, { linkChanged: true, previousGameId: gameId("2") });
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("confirms a link that is there already", () =>
    Effect.gen(function* () {
      const { browser, entry, link, read } = yield* setup();
      yield* link("1");
      yield* browser.walk(entry);
      assert.isNull((yield* browser.show(entry)).replaces);
      assert.deepInclude(yield* browser.confirm(entry), { linkChanged: false });
      assert.deepInclude(yield* read, { linkChanged: false, previousGameId: gameId("1") });
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("sends the user on, told how it ended", () =>
    Effect.gen(function* () {
      const { browser, entry, byScope } = yield* setup({ redirect: `${origin}/done?a=1` });
      yield* browser.walk(entry);
      assert.deepStrictEqual(yield* browser.confirm(entry), {
        entry,
        guildId: null,
        redirect: `${origin}/done?a=1&sid=${entry.sid}&state=completed`,
      });
      const other = { ...byScope, redirect: `${origin}/` };
      yield* browser.walk(other);
      assert.deepStrictEqual(yield* browser.confirm(other), {
        entry: other,
        guildId: null,
        redirect: `${origin}/?state=completed`,
      });
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("goes on with a sign-in while its browser looks at another link", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* setup(), yield* setup()];
      const { browser, entry } = one;
      const state = yield* browser.leave("chat", entry);
      yield* browser.show(other.entry);
      assert.deepStrictEqual((yield* browser.comeBack("chat", state, "10001")).entry, entry);
      yield* browser.show(other.entry);
      yield* browser.prove("game", "1");
      yield* browser.confirm(entry);
      assert.strictEqual((yield* one.read).state, "completed");
      assert.strictEqual((yield* other.read).state, "pending");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("does not know a flow by a cookie that says another session", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* setup(), yield* setup()];
      const { browser, entry } = one;
      yield* browser.walk(entry);
      const form = yield* browser.form(entry);
      const [token, deadline] = (browser.jar.cookie ?? "").split(".");
      browser.jar.cookie = `${token}.${deadline}.${Base64Url.encode(JSON.stringify(other.entry))}`;
      assert.strictEqual(yield* reasonOf(browser.send(form)), "lost");
      assert.strictEqual((yield* other.read).state, "pending");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("lets a user take another account before they confirm", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      yield* browser.walk(entry, "10001", "1");
      yield* browser.prove("game", "2");
      assert.strictEqual((yield* browser.show(entry)).game?.id, gameId("2"));
      yield* browser.prove("chat", "10002");
      const { chat, game } = yield* browser.show(entry);
      assert.deepStrictEqual([chat?.id, game], [chatId("10002"), null]);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("stores where the user was seen, protected, as the act of the user", () => {
    const writes: Array<CompleteFlow> = [];
    const onCall = (operation: string, [write]: ReadonlyArray<unknown>) => {
      if (operation === "complete") writes.push(write as CompleteFlow);
    };
    return Effect.gen(function* () {
      const { browser, entry, key } = yield* setup();
      yield* browser.walk(entry);
      yield* browser.confirm(entry, "2001:db8:1:2::7");
      const actor = { type: "user", id: ada } as const;
      assert.deepInclude(writes[0], { chatId: ada, actor, requestId: "req_test" });
      const { protect } = yield* AddressVault;
      assert.strictEqual(writes[0]?.address?.hash, (yield* protect(address("2001:db8:1:2::8"))).hash);
      assert.notInclude(JSON.stringify(writes[0]?.address), "2001");
      const [logged] = yield* (yield* AuditLog).list(key.scope.account, null, 1);
      assert.deepInclude(logged, { action: "link.set", actor, requestId: "req_test" });
    }).pipe(Effect.provide(flowWorldWith({ onCall })));
  });

  it.effect("keeps no address where sightings are not kept", () => {
    const addresses: Array<unknown> = [];
    const onCall = (operation: string, [write]: ReadonlyArray<unknown>) => {
      if (operation === "complete") addresses.push((write as CompleteFlow).address);
    };
    return Effect.gen(function* () {
      const usual = yield* SessionSettings;
      const rules = Layer.succeed(SessionSettings, { ...usual, sightingRetention: 0 });
      yield* Effect.gen(function* () {
        const { browser, entry } = yield* setup();
        yield* browser.walk(entry);
        yield* browser.confirm(entry);
      }).pipe(Effect.provide(flowWorldWith({ onCall }).pipe(Layer.provide(rules))));
      assert.deepStrictEqual(addresses, [null]);
    });
  });

  it.effect("tells no store, counter or signal a sid, a state or a PKCE secret", () => {
    const told: Array<unknown> = [];
    return Effect.gen(function* () {
      const { poll, stream } = yield* VerificationSessions;
      const { browser, entry, key } = yield* setup();
      yield* browser.show(entry);
      const state = yield* browser.leave("chat", entry);
      const { codeVerifier, nonce } = yield* (yield* Secrets).signIn(state);
      yield* browser.comeBack("chat", state, "10001");
      yield* browser.prove("game", "1");
      yield* browser.confirm(entry);
      yield* poll(key, entry.sid, 0);
      yield* Effect.scoped(stream(key, entry.sid, "0"));
      const texts = JSON.stringify(told);
      for (const secret of [entry.sid, state, codeVerifier, nonce]) assert.notInclude(texts, secret);
      // Each of the ports was heard.
      for (const part of ["poll_count:", "sessions", "stateHash", "clientId"]) assert.include(texts, part);
    }).pipe(Effect.provide(flowWorldWith({ onCall: (...call) => told.push(call) })));
  });

  it.effect("logs each step with the session's short name, and counts it", () => {
    const lines: Array<Record<string, unknown>> = [];
    const logger = Logger.make(({ fiber, message }) => {
      const { step, outcome, session } = fiber.getRef(References.CurrentLogAnnotations);
      if (String(message).startsWith("Flow step")) lines.push({ step, outcome, session });
    });
    return Effect.gen(function* () {
      const { browser, entry } = yield* setup({ chatId: chatId("10002") });
      const session = (yield* sessionIdOf(entry.sid)).slice(3, 11);
      const refusals = Metric.value(
        Metric.withAttributes(flowSteps, { step: "chat_proven", outcome: "wrong_user" }),
      );
      const before = (yield* refusals).count;
      for (const _ of ["entered", "looked at again"]) yield* browser.show(entry);
      yield* Effect.flip(browser.prove("chat", "10001", entry));
      yield* browser.walk(entry, "10002", "2");
      yield* browser.confirm(entry);
      yield* Effect.flip(browser.show({ sid: "vs_" }));
      assert.deepStrictEqual(
        lines.map(({ step, outcome }) => `${String(step)} ${String(outcome)}`),
        [
          "entered ok",
          "chat_started ok",
          "chat_proven wrong_user",
          "chat_started ok",
          "chat_proven ok",
          "game_started ok",
          "game_proven ok",
          "completed ok",
          "entered unknown",
        ],
      );
      const named = lines.slice(0, -1).map((line) => line["session"]);
      assert.deepStrictEqual(new Set(named), new Set([session]));
      assert.isNull(lines.at(-1)?.["session"]);
      assert.strictEqual((yield* refusals).count - before, 1);
    }).pipe(Effect.provide(Layer.merge(flowWorld, Logger.layer([logger]))));
  });
});

describe("An account on a page", () => {
  it.effect("is asked for without its place in the guild, which no page shows", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup({ guildId });
      yield* browser.walk(entry);
      const { chat } = yield* browser.show(entry);
      assert.deepInclude(chat?.profile, { username: "chat 10001", guild: null });
      const done = yield* browser.confirm(entry);
      assert.isNull(done.redirect);
      if (done.redirect === null) assert.isNull(done.chat.profile?.guild);
    }).pipe(Effect.provide(flowWorld)),
  );
});

describe("The guild that asks", () => {
  const named = { id: guildId, name: "Engine Room" };
  const unnamed = { id: guildId, name: null };

  it.effect("is shown by its name, if the platform answers", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup({ guildId });
      const platform = yield* ChatPlatformSwitch;
      assert.deepStrictEqual((yield* browser.show(entry)).guild, named);
      platform.isDown = true;
      assert.deepStrictEqual((yield* browser.show(entry)).guild, unnamed);
      const { pid } = (yield* newGuildKey).scope;
      const ofScope = { pid, guildId: null, redirect: null };
      assert.deepStrictEqual((yield* browser.show(ofScope)).guild, unnamed);
      platform.isDown = false;
      assert.deepStrictEqual((yield* browser.show(ofScope)).guild, named);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("is not asked for when anybody may have named it, until a member has", () =>
    Effect.gen(function* () {
      const { browser, byScope } = yield* setup();
      const inGuild = { ...byScope, guildId };
      assert.isNull((yield* browser.show(byScope)).guild);
      assert.deepStrictEqual((yield* browser.show(inGuild)).guild, unnamed);
      yield* browser.leave("chat", inGuild);
      assert.deepStrictEqual((yield* browser.show(inGuild)).guild, unnamed);
      yield* browser.prove("chat", ada, inGuild);
      assert.deepStrictEqual((yield* browser.show(inGuild)).guild, named);
    }).pipe(Effect.provide(flowWorld)),
  );
});

const oneADay = flowWorld.pipe(
  Layer.provide(
    Layer.effect(
      Limits,
      Effect.map(Limits, (usual) => ({ ...usual, address: { ...usual.address, verifyDaily: 1 } })),
    ),
  ),
);

describe("A flow that no session has asked for", () => {
  it.effect("links, and counts against the verify day of its address; one with a session does not", () =>
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

  it.effect("goes only where an active key of its scope sends users", () =>
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

  it.effect("loses its proofs to a removal, whichever it was", () =>
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

  it.effect("loses half of its proofs to a removal, also while its user signs in", () =>
    Effect.gen(function* () {
      const { browser, byScope, link, removals } = yield* setup();
      yield* link("2");
      yield* browser.prove("chat", ada, byScope);
      const state = yield* browser.leave("game");
      yield* removals.unlink;
      assert.strictEqual(yield* reasonOf(browser.comeBack("game", state, "1")), "link_changed");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("has its time", () =>
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

describe("The cookie", () => {
  it.effect("knows where the browser has entered, last of all", () =>
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

  it.effect("does not say where its browser has entered when that is too long for a cookie", () =>
    Effect.gen(function* () {
      const { browser, byScope } = yield* setup();
      const long = { ...byScope, redirect: `${origin}/${"ä".repeat(2_000)}` };
      yield* browser.show(long);
      assert.isBelow(browser.jar.cookie?.length ?? 0, 100);
      assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
      yield* browser.leave("chat", long);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("is no way in when somebody has changed it", () =>
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

  it.effect("changes with each proof, so that one from before is worth nothing", () =>
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

  it.effect("takes no sign-in along that was begun before a proof", () =>
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

  it.effect("stands for one flow: beginning another ends the first in this browser", () =>
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

  it.effect("is made anew when it is none of ours", () =>
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

describe("VerificationFlows.cancel", () => {
  it.effect("cancels the session, begun or not", () =>
    Effect.gen(function* () {
      const { browser, entry, read } = yield* setup();
      yield* browser.cancel(yield* browser.form(entry));
      assert.strictEqual((yield* read).state, "cancelled");
      const begun = yield* setup();
      yield* begun.browser.walk(begun.entry);
      const form = yield* begun.browser.form(begun.entry);
      yield* begun.browser.cancel(form);
      assert.strictEqual(yield* reasonOf(begun.browser.send(form)), "over cancelled");
      assert.strictEqual(yield* reasonOf(begun.browser.cancel(form)), "over cancelled");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("knows the session from the page that the browser has opened", () =>
    Effect.gen(function* () {
      const { browser, entry, read } = yield* setup();
      yield* browser.cancel({ ...(yield* browser.form(entry)), sid: null });
      assert.strictEqual((yield* read).state, "cancelled");
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("ends a flow without a session", () =>
    Effect.gen(function* () {
      const { browser, byScope, gameOf } = yield* setup();
      yield* browser.walk(byScope);
      const form = yield* browser.form(byScope);
      yield* browser.cancel(form);
      assert.strictEqual(yield* reasonOf(browser.send(form)), "lost");
      assert.strictEqual(yield* reasonOf(browser.cancel(form)), "lost");
      assert.isNull(yield* gameOf);
    }).pipe(Effect.provide(flowWorld)),
  );

  it.effect("leaves the flow of another session alone", () =>
    Effect.gen(function* () {
      const one = yield* setup();
      const other = yield* setup();
      yield* one.browser.walk(one.entry);
      yield* one.browser.cancel(yield* one.browser.form(other.entry));
      assert.strictEqual((yield* other.read).state, "cancelled");
      yield* one.browser.confirm(one.entry);
      assert.strictEqual((yield* one.read).state, "completed");
    }).pipe(Effect.provide(flowWorld)),
  );
});
