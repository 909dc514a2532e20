import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { AuditLog } from "./audit/audit.ts";
import { EventStore } from "./events/event_store.ts";
import { GuildLogStore } from "./guild_log/guild_log_store.ts";
import * as Retention from "./retention.ts";
import { RolePlanStore } from "./roles/role_plan_store.ts";
import { startNodeOn, stores } from "./test_services.ts";

const test = testWith(stores);

test("one node of all walks through the lists for old records, every ten minutes, and another one after its death", function* () {
  const [plans, events, log] = [yield* RolePlanStore, yield* EventStore, yield* AuditLog];
  const logs = yield* GuildLogStore;
  const walks: Array<string> = [];
  const startNode = (name: string) => {
    const noted = <A, E>(what: string, walk: Effect.Effect<A, E>) =>
      Effect.andThen(
        Effect.sync(() => walks.push(`${name} ${what}`)),
        walk,
      );
    return startNodeOn(plans, (reachable) =>
      Retention.layer.pipe(
        Layer.provide([
          Layer.succeed(RolePlanStore, reachable),
          Layer.succeed(EventStore, { ...events, sweep: (sweep) => noted("events", events.sweep(sweep)) }),
          Layer.succeed(AuditLog, { ...log, forget: (before) => noted("entries", log.forget(before)) }),
          Layer.succeed(GuildLogStore, { ...logs, forget: (at) => noted("messages", logs.forget(at)) }),
        ]),
      ),
    );
  };
  const first = yield* startNode("first");
  yield* TestClock.adjust("1 second");
  yield* startNode("second");
  yield* TestClock.adjust("9 minutes");
  const one = ["first events", "first entries", "first messages"];
  expect(walks).toEqual(one);
  yield* TestClock.adjust("2 minutes");
  expect(walks).toEqual([...one, ...one]);
  first.cut();
  yield* TestClock.adjust("3 minutes");
  expect(walks).toEqual([...one, ...one, ...one.map((walk) => walk.replace("first", "second"))]);
});
