/** What nodes do all the time takes few keys and commits, however many webhooks and plans the service has. */
import { GuildId } from "@accountlink/core";
import { noPlan, RolePlanStore } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import { WebhookStore } from "@accountlink/core/webhooks";
import { aheadBy } from "@accountlink/test-servers/effect";
import { makeWebhook } from "@accountlink/testing";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { type Kv, memoryKv } from "../mod.ts";
import { makeScope, onStorage, origin, pid } from "./test_storage.ts";

const count = 120;
const numbers = Array.from({ length: count }, (_, index) => index);

const countingKv = () => {
  const [kv, read, made] = [memoryKv(), { keys: 0 }, { commits: 0 }];
  const counted = (keys: number) =>
    Effect.sync(() => {
      read.keys += keys;
    });
  const engine: Kv = {
    ...kv,
    get: (keys) => Effect.tap(kv.get(keys), counted(keys.length)),
    list: (range, options) => Effect.tap(kv.list(range, options), ({ length }) => counted(length)),
    commit: (checks, changes) => {
      made.commits++;
      return kv.commit(checks, changes);
    },
  };
  return { engine, read, made };
};

type Stores = Parameters<typeof onStorage>[1];

/** Makes a test that runs on an engine that counts. */
const onCounting = (body: (counted: ReturnType<typeof countingKv>) => Stores) => () => {
  const counted = countingKv();
  return Effect.runPromise(onStorage(counted.engine, body(counted)));
};

const addPlans = Effect.gen(function* () {
  yield* makeScope;
  const plans = yield* RolePlanStore;
  for (const number of numbers) {
    const place = { pid, guildId: GuildId.make(`${70_001 + number}`) };
    yield* plans.put({ ...origin, ...place, settings: { ...noPlan, state: "on" }, position: 0, at: 5 });
  }
  return plans;
});

it(
  "a node that takes no plans reads none of them",
  onCounting(
    Effect.fnUntraced(function* ({ read }) {
      const plans = yield* addPlans;
      read.keys = 0;
      yield* plans.hold({ node: "retention:a", at: 0, until: 7_000, limit: 0 });
      expect(read.keys).toBeLessThan(10);
    }),
  ),
);

it(
  "a node takes free plans in few commits, which may take long on Redis",
  onCounting(
    Effect.fnUntraced(function* ({ made }) {
      const plans = yield* addPlans;
      made.commits = 0;
      const held = yield* plans.hold({ node: "a", at: 0, until: 7_000, limit: count });
      expect(held).toHaveLength(count);
      expect(made.commits).toBeLessThan(10);
    }),
  ),
);

it(
  "a node looks for free plans without those of other nodes",
  onCounting(
    Effect.fnUntraced(function* ({ read }) {
      const plans = yield* addPlans;
      const hold = (node: string, at: number, limit = count) =>
        Effect.map(plans.hold({ node, at, until: at + 7_000, limit }), (held) => held.length);
      expect(yield* hold("a", 0)).toBe(count);
      read.keys = 0;
      expect(yield* hold("b", 1)).toBe(0);
      expect(read.keys).toBeLessThan(10);
      expect(yield* hold("b", 7_000, 3)).toBe(3);
      expect(yield* hold("c", 7_001)).toBe(count - 3);
    }),
  ),
);

it("plans without a node that a release before has stored are taken", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    yield* onStorage(kv, addPlans);
    const range = { start: "role_plans.byHolder ", end: "role_plans.byHolder!" };
    const entries = yield* kv.list(range, { limit: 1_000, reverse: false });
    expect(entries).toHaveLength(count);
    yield* kv.commit(
      [],
      entries.map(({ key }) => ({ key, value: null })),
    );
    const hold = RolePlanStore.use((plans) => plans.hold({ node: "a", at: 0, until: 7_000, limit: count }));
    expect(yield* onStorage(kv, hold)).toHaveLength(count);
  }).pipe(Effect.runPromise));

it("starts read no plan after those of the day on which the entries of a release before were made", () =>
  Effect.gen(function* () {
    const { engine, read } = countingKv();
    const start = (ahead: number) => aheadBy(() => ahead)(onStorage(engine, Effect.void));
    yield* onStorage(engine, addPlans);
    for (const ahead of [0, dayMs]) yield* start(ahead);
    read.keys = 0;
    yield* start(dayMs);
    expect(read.keys).toBeLessThan(count);
  }).pipe(Effect.runPromise));

it(
  "a sweep of deliveries reads the webhooks that have any",
  onCounting(
    Effect.fnUntraced(function* ({ read }) {
      const scope = yield* makeScope;
      const webhooks = yield* WebhookStore;
      for (const _ of numbers) {
        const webhook = makeWebhook(scope);
        yield* webhooks.insert({ ...origin, webhook, sealed: "sealed", position: 0, maxOfScope: count });
      }
      read.keys = 0;
      yield* webhooks.sweep(1);
      expect(read.keys).toBeLessThan(10);
    }),
  ),
);
