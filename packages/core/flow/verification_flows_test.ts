import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Logger, Metric, References } from "effect";
import { Base64Url } from "effect/encoding";
import { AddressVault } from "../addresses/address_vault.ts";
import { AuditLog } from "../audit/audit.ts";
import { Secrets } from "../secrets/secrets.ts";
import { SessionSettings } from "../sessions/session_settings.ts";
import type { CompleteFlow } from "../sessions/session_store.ts";
import { sessionIdOf } from "../sessions/test_sessions.ts";
import { VerificationSessions } from "../sessions/verification_sessions.ts";
import { address, chatId, gameId } from "../test_services.ts";
import { flowServices, flowServicesWith, reasonOf, setupFlow as setup } from "./test_flows.ts";
import { stepsTotal } from "./verification_flows.ts";

const ada = chatId("10001");

const test = testWith(flowServices);

test("a sign-in finishes even if its browser has opened another session meanwhile", function* () {
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
});

test("no flow is found for a cookie in which the session was replaced by another session", function* () {
  const [one, other] = [yield* setup(), yield* setup()];
  const { browser, entry } = one;
  yield* browser.walk(entry);
  const form = yield* browser.form(entry);
  const [token, deadline] = (browser.jar.cookie ?? "").split(".");
  browser.jar.cookie = `${token}.${deadline}.${Base64Url.encode(JSON.stringify(other.entry))}`;
  assert.strictEqual(yield* reasonOf(browser.send(form)), "lost");
  assert.strictEqual((yield* other.read).state, "pending");
});

test("a user can switch accounts before the confirmation", function* () {
  const { browser, entry } = yield* setup();
  yield* browser.walk(entry, "10001", "1");
  yield* browser.prove("game", "2");
  assert.strictEqual((yield* browser.show(entry)).game?.id, gameId("2"));
  yield* browser.prove("chat", "10002");
  const { chat, game } = yield* browser.show(entry);
  assert.deepStrictEqual([chat?.id, game], [chatId("10002"), null]);
});

test("a confirmation stores the user's address encrypted, with the user as the actor", () => {
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
  }).pipe(Effect.provide(flowServicesWith({ onCall })));
});

test("a browser gets a random cookie at its first confirmation, and confirmations store the cookie's hash", () => {
  const stored: Array<string | null> = [];
  const onCall = (operation: string, [write]: ReadonlyArray<unknown>) => {
    if (operation === "complete") stored.push((write as CompleteFlow).browser);
  };
  return Effect.gen(function* () {
    const { browserHash } = yield* Secrets;
    const confirm = Effect.fnUntraced(function* (mark: string | null) {
      const { browser, entry } = yield* setup();
      browser.jar.mark = mark;
      yield* browser.walk(entry);
      return (yield* browser.confirm(entry)).browser ?? "";
    });
    const mark = yield* confirm(null);
    assert.match(mark, /^[\w-]{43}$/);
    assert.strictEqual(yield* confirm(mark), mark);
    const unreadable = yield* confirm("not a mark");
    assert.match(unreadable, /^[\w-]{43}$/);
    assert.notStrictEqual(unreadable, mark);
    const marks = [mark, mark, unreadable];
    assert.deepStrictEqual(stored, yield* Effect.forEach(marks, browserHash));
    for (const each of marks) assert.notInclude(stored, each);
  }).pipe(Effect.provide(flowServicesWith({ onCall })));
});

test("a confirmation stores no sightings and sets no browser cookie if sightings are turned off", () => {
  const stored: Array<unknown> = [];
  const onCall = (operation: string, [write]: ReadonlyArray<unknown>) => {
    if (operation !== "complete") return;
    const { address: at, browser } = write as CompleteFlow;
    stored.push(at, browser);
  };
  return Effect.gen(function* () {
    const usual = yield* SessionSettings;
    const rules = Layer.succeed(SessionSettings, { ...usual, sightingRetention: 0 });
    yield* Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      yield* browser.walk(entry);
      assert.isNull((yield* browser.confirm(entry)).browser);
    }).pipe(Effect.provide(flowServicesWith({ onCall }).pipe(Layer.provide(rules))));
    assert.deepStrictEqual(stored, [null, null]);
  });
});

test("no sid, state or PKCE secret reaches a store, a counter or a signal", () => {
  const calls: Array<unknown> = [];
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
    const texts = JSON.stringify(calls);
    for (const secret of [entry.sid, state, codeVerifier, nonce]) assert.notInclude(texts, secret);
    for (const part of ["poll_count:", "sessions", "stateHash", "clientId"]) assert.include(texts, part);
  }).pipe(Effect.provide(flowServicesWith({ onCall: (...call) => calls.push(call) })));
});

test("each step is counted, and logged with the start of the session's id", () => {
  const lines: Array<Record<string, unknown>> = [];
  const logger = Logger.make(({ fiber, message }) => {
    const { step, outcome, session } = fiber.getRef(References.CurrentLogAnnotations);
    if (String(message).startsWith("Flow step")) lines.push({ step, outcome, session });
  });
  return Effect.gen(function* () {
    const { browser, entry } = yield* setup({ chatId: chatId("10002") });
    const session = (yield* sessionIdOf(entry.sid)).slice(3, 11);
    const refusals = Metric.value(
      Metric.withAttributes(stepsTotal, { step: "chat_proven", outcome: "wrong_user" }),
    );
    const before = (yield* refusals).count;
    for (const _ of ["entered", "reloaded"]) yield* browser.show(entry);
    yield* Effect.flip(browser.prove("chat", "10001", entry));
    yield* browser.walk(entry, "10002", "2");
    yield* browser.confirm(entry);
    yield* Effect.flip(browser.show({ sid: "vs_" }));
    assert.strictEqual(
      lines.map(({ step, outcome }) => `${String(step)} ${String(outcome)}`).join(),
      "entered ok,chat_started ok,chat_proven wrong_user,chat_started ok,chat_proven ok,game_started ok,game_proven ok,completed ok,entered unknown",
    );
    const named = lines.slice(0, -1).map((line) => line["session"]);
    assert.deepStrictEqual(new Set(named), new Set([session]));
    assert.isNull(lines.at(-1)?.["session"]);
    assert.strictEqual((yield* refusals).count - before, 1);
  }).pipe(Effect.provide(Logger.layer([logger])));
});
