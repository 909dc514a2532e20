import { PlatformMemory } from "@accountlink/memory";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Struct } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "./account_link.ts";
import { AuditLog } from "./audit/audit.ts";
import { EventStore } from "./events/event_store.ts";
import { GuildLogStore } from "./guild_log/guild_log_store.ts";
import * as Retention from "./retention.ts";
import { RolePlanStore } from "./roles/role_plan_store.ts";
import { StorageUse } from "./storage_use.ts";
import { platform, startNodeOn, stores } from "./test_services.ts";
import { WebhookStore } from "./webhooks/webhook_store.ts";

const test = testWith(stores);

test("one node of all walks through the lists for old records, every ten minutes, and another one after its death", function* () {
  const [plans, events, log] = [yield* RolePlanStore, yield* EventStore, yield* AuditLog];
  const [logs, webhooks] = [yield* GuildLogStore, yield* WebhookStore];
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
          Layer.succeed(WebhookStore, {
            ...webhooks,
            sweep: (before) => noted("deliveries", webhooks.sweep(before)),
          }),
          Layer.succeed(GuildLogStore, { ...logs, forget: (at) => noted("messages", logs.forget(at)) }),
        ]),
      ),
    );
  };
  const first = yield* startNode("first");
  yield* TestClock.adjust("1 second");
  yield* startNode("second");
  yield* TestClock.adjust("9 minutes");
  const one = ["first events", "first entries", "first messages", "first deliveries"];
  expect(walks).toEqual(one);
  yield* TestClock.adjust("2 minutes");
  expect(walks).toEqual([...one, ...one]);
  first.cut();
  yield* TestClock.adjust("3 minutes");
  expect(walks).toEqual([...one, ...one, ...one.map((walk) => walk.replace("first", "second"))]);
});

test("a node whose clock is a month ahead of the storage deletes nothing by its own clock", function* () {
  const month = 30 * 86_400_000;
  yield* TestClock.setTime(month);
  const swept = new Map<string, ReadonlyArray<number>>();
  const noting = (port: string, service: unknown): unknown =>
    typeof service !== "object" || service === null
      ? service
      : new Proxy(service, {
          get: (target, name, receiver) => {
            const operation = Reflect.get(target, name, receiver) as unknown;
            if (typeof operation !== "function" || !/^(sweep|forget)/.test(String(name))) return operation;
            return (...times: ReadonlyArray<unknown>) => {
              swept.set(`${port}.${String(name)}`, JSON.stringify(times).match(/-?\d+/g)?.map(Number) ?? []);
              return Reflect.apply(operation, target, times) as unknown;
            };
          },
        });
  const layer = Layer.merge(stores, PlatformMemory.layer(platform));
  const ports = yield* Layer.build(layer);
  const noted = new Map([...ports.mapUnsafe].map(([port, service]) => [port, noting(port, service)]));
  yield* Layer.build(
    Layer.provide(
      AccountLink.layer,
      Layer.succeedContext(Context.makeUnsafe<Layer.Success<typeof layer>>(noted)),
    ),
  ).pipe(Effect.updateService(StorageUse, Struct.assign({ clockLead: Effect.succeed(-month) })));
  yield* TestClock.adjust("10 minutes");
  expect(swept.size).toBeGreaterThan(10);
  for (const [operation, times] of swept)
    expect([operation, ...times.filter((time) => time > 600_000)]).toEqual([operation]);
});
