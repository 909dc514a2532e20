/**
 * Checks that suites detect mistakes: on an adapter with a mistake, the case named here must fail. The tests of the
 * adapters check that the same cases pass on correct adapters. `command_test.ts` tests a mistake for `linkStoreSuite`.
 */
import { Counters, EventStore, Signals } from "@accountlink/core";
import { IdempotencyStore } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { RolePlanStore } from "@accountlink/core/roles";
import { RootKeyStore } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { WebhookStore } from "@accountlink/core/webhooks";
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { type Context, Effect, type Layer, Option, Scope } from "effect";
import { expect, it } from "vitest";
import { uniqueText } from "../mod.ts";
import * as suites from "./mod.ts";
import { failingTitles, withMistake } from "./test_mistakes.ts";

/** Runs only the case with this title, and expects it to fail. */
const detects = <Ports, Port extends Ports, Shape extends object>(
  suite: (options: suites.SuiteOptions<Ports>) => void,
  correct: Layer.Layer<Ports>,
  port: Context.Key<Port, Shape>,
  title: string,
  mistake: (original: Shape) => Partial<Shape>,
): void =>
  it(`${suite.name} fails on a wrong adapter: ${title}`, async () => {
    const layer = withMistake(correct, port, mistake);
    const failed = await failingTitles((test) => {
      const only = (name: string, body: () => Promise<void>) => name === title && test.it(name, body);
      suite({ name: "", layer, test: { ...test, it: Object.assign(only, test.it) } });
    });
    expect(failed).toEqual([title]);
  });

const [storage, cache] = [StorageMemory.layer, CacheMemory.layer];

const maximum = "concurrent insertKey never exceeds the maximum";
detects(suites.keyStoreSuite, storage, KeyStore, maximum, (store) => ({
  insertKey: (write) => store.insertKey({ ...write, maxKeys: null }),
}));

const capacity = "concurrent create never exceeds the capacity, and refuses all others until the same time";
detects(suites.sessionStoreSuite, storage, SessionStore, capacity, (store) => ({
  create: (write) => store.create({ ...write, burst: null }),
}));

const fresh = "a read after a completed write contains its event";
detects(suites.eventStoreSuite, storage, EventStore, fresh, (store) => ({
  range: (pid) => Effect.map(store.range(pid), ({ start, end }) => ({ start, end: end + 1 })),
}));

const commits = "concurrent commits with one key: exactly one is stored, with its own write";
detects(suites.idempotencyStoreSuite, storage, IdempotencyStore, commits, (store) => ({
  commit: (request, write, size) => store.commit({ ...request, id: uniqueText() }, write, size),
}));

const limit = "concurrent requests never exceed a limit";
detects(suites.countersSuite, cache, Counters, limit, (counters) => ({
  admit: (rules, now) =>
    counters.admit(
      rules.map((rule) => ({ ...rule, limit: rule.limit + 1 })),
      now,
    ),
}));

const replaces = "concurrent replaces: exactly one succeeds";
detects(suites.rootKeyStoreSuite, storage, RootKeyStore, replaces, (store) => ({
  replace: (expected, next) => Effect.as(store.replace(expected, next), true),
}));

const ends = "a subscription ends with its scope, and others continue";
detects(suites.signalsSuite, cache, Signals, ends, (signals) => ({
  subscribe: (topic) => Scope.provide(signals.subscribe(topic), Scope.makeUnsafe()),
}));

const once = "concurrent adds of one batch count it once";
detects(suites.usageStoreSuite, storage, UsageStore, once, (usage) => ({
  add: (batch) => Effect.andThen(Effect.yieldNow, usage.add({ ...batch, meter: crypto.randomUUID() })),
}));

const erased = "concurrent erase: each record, sighting and entry is erased once";
detects(suites.userStoreSuite, storage, UserStore, erased, (users) => ({
  erase: (write) =>
    Effect.map(
      users.erase(write),
      Option.map((parts) => ({ ...parts, records: 1 })),
    ),
}));

const webhooks = "concurrent inserts never exceed the maximum of their scope";
detects(suites.webhookStoreSuite, storage, WebhookStore, webhooks, (store) => ({
  insert: (write) => store.insert({ ...write, maxOfScope: Infinity }),
}));

const lease = "another node takes over a plan exactly when its hold expires, or when its node ends";
detects(suites.rolePlanStoreSuite, storage, RolePlanStore, lease, (store) => ({
  hold: (hold) => store.hold({ ...hold, until: hold.until + 1 }),
}));
