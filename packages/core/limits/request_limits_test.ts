import { assert, testWith } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { GuildLog } from "../guild_log/guild_log.ts";
import { ChatId, GameId, type KeyId, Pid } from "../ids.ts";
import { ChargedAccount, PlatformRefusals } from "../platforms/platform_refusals.ts";
import { address, services } from "../test_services.ts";
import { type CounterRule, Counters } from "./counters.ts";
import { type LimitSettings, Limits, type Quota } from "./quota.ts";
import { type Requester, RequestLimits } from "./request_limits.ts";

const day = 86_400_000;
const unlimited = JSON.parse(JSON.stringify(Limits.defaultValue()), (_, value: unknown) =>
  typeof value === "number" ? 0 : value,
) as LimitSettings;
const quota: Quota = { perWindow: 1, windowMs: 1_000, daily: 3, verifyDaily: 2 };
const from = address("203.0.113.7");
const asker: Requester = {
  key: { id: "Aa0Bb1Cc2Dd3" as KeyId, kind: "normal" },
  quota,
  address: from,
  traffic: "mapping",
};

/**
 * Makes services and sets their clock to `time` before they start, so that no background work runs at an earlier time.
 */
const servicesAt = (time: number) =>
  Layer.provideMerge(services, Layer.effectDiscard(TestClock.setTime(time)));

const admit = (change: Partial<Requester> = {}) =>
  Effect.flatMap(RequestLimits, (limits) => limits.admit({ ...asker, ...change }));
const bucketOf = (change: Partial<Requester> = {}) =>
  Effect.map(admit(change), ({ refusal }) => refusal?.bucket ?? null);
const unpaced = { quota: { ...quota, perWindow: null } };

const test = testWith(servicesAt(day - 10_000));

test("the limit of a day resets at midnight UTC, and a refusal asks to retry after at most an hour", function* () {
  for (const _ of [1, 2, 3]) assert.isNull(yield* bucketOf(unpaced));
  const { refusal } = yield* admit(unpaced);
  assert.deepInclude(refusal, { bucket: "day", resetsAt: day, retryAfter: 10 });
  yield* TestClock.adjust(10_000);
  for (const _ of [1, 2, 3]) assert.isNull(yield* bucketOf(unpaced));
  assert.deepInclude((yield* admit(unpaced)).refusal, { bucket: "day", retryAfter: 3_600 });
});

testWith(services)("a refusal names the limit that resets last if several are full", function* () {
  for (const _ of [1, 2, 3]) {
    yield* admit();
    yield* TestClock.adjust("1 second");
  }
  yield* admit({ quota: { ...quota, daily: null } });
  assert.strictEqual(yield* bucketOf(), "day");
});

testWith(servicesAt(10 * day))(
  "a refusal asks to wait at most as long as the window, even after the clock was set back",
  function* () {
    for (let sent = 0; sent < 20; sent++) yield* admit({ quota: { ...quota, perWindow: null, daily: null } });
    yield* admit({ address: address("203.0.113.8") });
    yield* TestClock.setTime(10 * day - 200);
    assert.deepInclude((yield* admit()).refusal, { bucket: "ip_second", retryAfter: 1 });
    const elsewhere = yield* admit({ address: address("203.0.113.8") });
    assert.deepInclude(elsewhere.refusal, { bucket: "second", retryAfter: 1 });
  },
);

testWith(services)("daily limits are marked, and counter names have no address or chat ID", function* () {
  const asked: Array<CounterRule> = [];
  const counters = Counters.of({
    admit: (rules, now) => {
      asked.push(...rules);
      return Effect.succeed({
        admitted: true,
        states: rules.map(({ durationMs }) => ({ count: 1, resetsAt: now + durationMs })),
      });
    },
    read: () => Effect.succeed([]),
  });
  const counting = Layer.mergeAll(RequestLimits.layer, GuildLog.layer, PlatformRefusals.layer);
  const context = yield* Layer.build(
    Layer.fresh(counting).pipe(Layer.provide(Layer.succeed(Counters, counters))),
  );
  const limits = Context.get(context, RequestLimits);
  for (const traffic of ["mapping", "verify"] as const) yield* limits.admit({ ...asker, traffic });
  yield* limits.admitExport(ChatId.make("100001"));
  const daily = asked.filter(({ isDay }) => isDay === true).map(({ key }) => key.split(":")[0]);
  const scope = { pid: Pid.make("pid_0123456789abcdefghij") };
  const user = { chatId: ChatId.make("100001"), gameId: GameId.make("200001") };
  yield* Context.get(context, GuildLog).tellRefused(scope, user, { reason: "blocked" });
  const charged = yield* Context.get(context, PlatformRefusals).chargeTo("chat:100001")(ChargedAccount);
  yield* charged?.charge ?? Effect.void;
  const short = asked.filter(({ isDay }) => isDay !== true).map(({ key }) => key.split(":")[0]);
  assert.sameMembers(daily, ["ip_day", "day", "ip_verify_day", "verify_day", "day"]);
  assert.sameMembers(short, ["ip_second", "second", "ip_second", "refused", "platform_refusals"]);
  const personal = [from.countedAs, user.chatId, user.gameId];
  assert.isFalse(asked.some(({ key }) => personal.some((name) => key.includes(name))));
});

test("a limit of 0 and an unlimited key admit every request", () =>
  Effect.gen(function* () {
    const free = { quota: { perWindow: null, windowMs: 0, daily: null, verifyDaily: null } };
    const decisions = yield* Effect.forEach(Array.from({ length: 50 }), () => admit(free));
    assert.isTrue(decisions.every(({ refusal }) => refusal === null));
    assert.deepStrictEqual(decisions.at(-1)?.report, { window: null, day: null, addressDay: null });
  }).pipe(Effect.provide(services), Effect.provideService(Limits, unlimited)));

test("a flow has its own limits until it ends, and counts against the address once it is admitted", function* () {
  const limits = yield* RequestLimits;
  const endsAt = day - 5_000;
  const admitFlow = (name: string) => limits.admitFlow(from, { name, limit: 2, endsAt });
  assert.deepStrictEqual(
    [yield* admitFlow("names:one"), yield* admitFlow("names:one"), yield* admitFlow("names:one")],
    [true, true, false],
  );
  assert.isTrue(yield* admitFlow("names:two"));
  // The refused try of the first flow did not count.
  const counted = yield* (yield* RequestLimits).admit({ ...asker, traffic: "verify" });
  const { verifyDaily } = Limits.defaultValue().address;
  assert.deepInclude(counted.report.addressDay, { limit: verifyDaily, remaining: verifyDaily - 4 });
});
