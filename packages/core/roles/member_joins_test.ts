import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option, Queue, Stream } from "effect";
import { TestClock } from "effect/testing";
import { PlatformUnavailable } from "../errors.ts";
import { ChatPlatform, type GuildJoin, JoinsRefused } from "../platforms/chat_platform.ts";
import { chatId, guildId, operator, scopes, services, startNodeOn } from "../test_services.ts";
import { layerMemberJoins } from "./member_joins.ts";
import { noPlan } from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";

const test = testWith(services);

test("one node receives joins, reconnects, and another node takes over within 10 s of its death", function* () {
  const store = yield* RolePlanStore;
  const chat = yield* ChatPlatform;
  const { guild: scope } = yield* scopes;
  const place = { pid: scope.pid, guildId };
  yield* store.put({ ...operator, ...place, settings: { ...noPlan, state: "on" }, position: 0, at: 0 });
  const joins = yield* Queue.unbounded<GuildJoin>();
  const connected: Array<string> = [];
  let isAway = true;

  const startNode = (name: string) => {
    const connection = Effect.gen(function* () {
      if (isAway) return yield* new PlatformUnavailable({ operation: "ChatPlatform.joins" });
      yield* Effect.acquireRelease(
        Effect.sync(() => connected.push(name)),
        () => Effect.sync(() => connected.splice(connected.indexOf(name), 1)),
      );
      return Stream.fromQueue(joins);
    });
    return startNodeOn(store, (reachable) =>
      layerMemberJoins.pipe(
        Layer.provide([
          Layer.succeed(RolePlanStore, reachable),
          Layer.succeed(ChatPlatform, { ...chat, joins: () => connection }),
        ]),
      ),
    );
  };

  const newcomer = chatId("100009");
  const first = yield* startNode("first");
  yield* TestClock.adjust("1 second");
  const second = yield* startNode("second");
  expect(connected).toEqual([]);

  isAway = false;
  yield* TestClock.adjust("5 seconds");
  expect(connected).toEqual(["first"]);

  yield* Queue.offer(joins, { guildId, chatId: newcomer });
  yield* TestClock.adjust("1 second");
  expect((yield* store.due(place, 10_000, 10)).map((member) => member.chatId)).toEqual([newcomer]);

  first.cut();
  yield* TestClock.adjust("9 seconds");
  expect(connected).toEqual(["second"]);

  yield* second.stop;
  expect(connected).toEqual([]);
  expect(yield* store.firstNode("gateway:", 17_000)).toEqual(Option.none());
});

test("a node that the platform refuses to report joins to does not ask again", function* () {
  const chat = yield* ChatPlatform;
  let connections = 0;
  const refused = Effect.suspend(() => {
    connections += 1;
    return Effect.fail(new JoinsRefused({ reason: "the bot token is wrong" }));
  });
  const platforms = Layer.succeed(ChatPlatform, { ...chat, joins: () => refused });
  yield* Layer.build(Layer.provide(layerMemberJoins, platforms));
  yield* TestClock.adjust("5 minutes");
  expect(connections).toBe(1);
});
