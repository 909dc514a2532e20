import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import type { RateLimited } from "../errors.ts";
import { botlessGuildId, services } from "../test_services.ts";
import { newKey, request, servicesWith, setup } from "./test_sessions.ts";
import { VerificationSessions } from "./verification_sessions.ts";

const test = testWith(services);

test("the limit of 6 sessions at once also holds on a node whose clock is 50 ms behind", function* () {
  const sessions = yield* VerificationSessions;
  const create = sessions.create(yield* newKey(), request);
  yield* TestClock.setTime(1_000);
  for (let made = 0; made < 5; made++) yield* create;
  yield* TestClock.setTime(950);
  assert.strictEqual((yield* create).createdAt, 1_000);
  assert.deepInclude(yield* Effect.flip(create), { _tag: "RateLimited", bucket: "session_create" });
});

test("a key creates 6 sessions at once and then 1 every 10 seconds; refusals do not count", function* () {
  const sessions = yield* VerificationSessions;
  const key = yield* newKey();
  const other = yield* newKey();
  const create = sessions.create(key, request);
  for (let invalid = 0; invalid < 10; invalid++) {
    yield* Effect.flip(sessions.create(key, { ...request, redirect: "https://evil.example/" }));
    yield* Effect.flip(sessions.create(key, { ...request, guildId: botlessGuildId }));
  }
  for (let made = 0; made < 6; made++) yield* create;
  const refused = { _tag: "RateLimited", bucket: "session_create", limit: 6, retryAfter: 10 } as const;
  assert.deepInclude(yield* Effect.flip(create), refused);
  yield* sessions.create(other, request);

  yield* TestClock.adjust("9 seconds");
  const waits = new Set<number>();
  for (let asked = 0; asked < 50; asked++) {
    const { resetsAt, retryAfter } = (yield* Effect.flip(create)) as RateLimited;
    assert.strictEqual(resetsAt, 10_000);
    assert.isTrue(retryAfter >= 1 && retryAfter <= 10);
    waits.add(retryAfter);
  }
  assert.isAbove(waits.size, 3);
  yield* TestClock.adjust("1 second");
  yield* create;
  assert.deepInclude(yield* Effect.flip(create), refused);
  yield* TestClock.adjust("10 minutes");
  for (let made = 0; made < 6; made++) yield* create;
  assert.deepInclude(yield* Effect.flip(create), refused);
});

test.each([{ createBurst: 0 }, { createRefill: 0 }])("creations have no limit with %o", (rules) =>
  Effect.gen(function* () {
    const sessions = yield* VerificationSessions;
    const key = yield* newKey();
    for (let made = 0; made < 30; made++) yield* sessions.create(key, request);
  }).pipe(Effect.provide(servicesWith(rules))),
);

test("polls of an ended session return at once until its deadline, and then fail", function* () {
  const { sessions, key, sid, poll } = yield* setup;
  yield* sessions.cancel(key, sid);
  assert.deepInclude(yield* poll(25_000), { state: "cancelled" });
  yield* TestClock.setTime(299_999);
  assert.deepInclude(yield* poll(), { state: "cancelled" });
  yield* TestClock.setTime(300_000);
  assert.deepInclude(yield* Effect.flip(poll()), { _tag: "SessionExpired" });
});
