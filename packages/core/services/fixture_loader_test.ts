import { PlatformMemory } from "@accountlink/platform-memory";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "../account_link.ts";
import type { Pid } from "../ids.ts";
import { vault } from "../internal/test_flows.ts";
import { address, chatId, gameId, operator, platform, stores, world } from "../internal/test_world.ts";
import { AuditLog } from "../ports/audit_log.ts";
import { KeyStore } from "../ports/key_store.ts";
import { SessionStore } from "../ports/session_store.ts";
import type { Sighting } from "../sighting.ts";
import { AddressVault } from "./address_vault.ts";
import { ApiKeys } from "./api_keys.ts";
import { FixtureLoader } from "./fixture_loader.ts";
import { LinkLookup } from "./link_lookup.ts";
import { LinkWriter } from "./link_writer.ts";

const key = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;
const document = {
  accounts: [{ name: "acme", chatId: "10001", tier: "premium" }],
  keys: [{ key, account: "acme", scope: "global" }],
  links: [
    {
      account: "acme",
      scope: "global",
      chatId: "10001",
      gameId: "1",
      lastVerifiedAt: "2026-01-01T00:00:00.000Z",
    },
    {
      account: "acme",
      scope: "global",
      chatId: "10002",
      gameId: "1",
      lastVerifiedAt: "2026-01-02T00:00:00.000Z",
    },
    { account: "other", scope: "guild", guildId: "700000000000000001", chatId: "10001", gameId: "2" },
  ],
};
const load = (change = {}) =>
  Effect.flatMap(FixtureLoader, (loader) => loader.load(JSON.stringify({ ...document, ...change })));
const globalScope = Effect.flatMap(ApiKeys, (keys) =>
  keys.scopeOf({ name: "acme", chatId: null, tier: "premium" }, { kind: "global" }),
);
const chatsOfOne = Effect.gen(function* () {
  const lookup = yield* LinkLookup;
  return (yield* lookup.byGame(yield* globalScope, gameId("1"), { guildId: null, resolved: false })).chatIds;
});

const seenAt = "2026-01-01T00:00:00.000Z";
const sightings = [
  { account: "acme", scope: "global", chatId: "10001", ip: "203.0.113.7", seenAt },
  { account: "acme", scope: "global", chatId: "10002", ip: "2001:db8::1" },
];

/** Stores that tell which sightings they recorded, and a loader of a fixture with two of them. */
const seeing = Effect.gen(function* () {
  const recorded: Array<ReadonlyArray<ReadonlyArray<string | number>>> = [];
  const warnings: Array<unknown> = [];
  const recording = Layer.effect(
    SessionStore,
    Effect.map(SessionStore, (store) => ({
      ...store,
      recordSightings: (pid: Pid, seen: ReadonlyArray<Sighting>) => {
        recorded.push(seen.map((sighting) => [sighting.chatId, sighting.address.hash, sighting.seenAt]));
        return store.recordSightings(pid, seen);
      },
    })),
  ).pipe(Layer.provideMerge(stores), Layer.fresh);
  const ports = Layer.merge(
    Layer.succeedContext(yield* Layer.build(recording)),
    PlatformMemory.layer(platform),
  );
  const log = Logger.layer([Logger.make(({ message }) => warnings.push(...[message].flat()))]);
  const loadInto = (keys: Layer.Layer<never> | typeof vault) =>
    load({ sightings }).pipe(
      Effect.provide(AccountLink.layer.pipe(Layer.provide(ports), Layer.provide(keys)), { local: true }),
      Effect.provide(log),
    );
  return { recorded, warnings, loadInto };
});

describe("FixtureLoader", () => {
  it.effect("loads accounts, keys and links, those of unnamed accounts too", () =>
    Effect.gen(function* () {
      yield* load();
      const keys = yield* (yield* KeyStore).listKeys(null);
      assert.deepStrictEqual(
        keys.map(({ id, tier }) => [id, tier]),
        [["Aa0Bb1Cc2Dd3", "premium"]],
      );
      assert.deepStrictEqual(yield* chatsOfOne, ["10002", "10001"].map(chatId));
    }).pipe(Effect.provide(world)),
  );

  it.effect("tells the audit log what it loaded, on behalf of the fixture", () =>
    Effect.gen(function* () {
      yield* load();
      yield* load();
      const [imported, created, ...rest] = yield* (yield* AuditLog).list("acme", null, 10);
      const actor = { type: "operator", id: "fixture" } as const;
      const details = { inserted: 2, replaced: 0, kept: 0 };
      assert.deepInclude(imported, { action: "links.imported", actor, details });
      assert.deepInclude(created, { action: "key.created", actor });
      assert.deepStrictEqual(rest, []);
      assert.strictEqual((yield* (yield* AuditLog).list("other", null, 10)).length, 1);
    }).pipe(Effect.provide(world)),
  );

  it.effect("changes nothing the second time", () =>
    Effect.gen(function* () {
      yield* load();
      const writer = yield* LinkWriter;
      const target = { scope: yield* globalScope, guildId: null, origin: operator };
      yield* writer.removeGame(target, chatId("10001"), { requireMember: false });
      yield* load();
      assert.deepStrictEqual(yield* chatsOfOne, [chatId("10002")]);
    }).pipe(Effect.provide(world)),
  );

  it.effect("leaves what exists as it is when another file is loaded", () =>
    Effect.gen(function* () {
      yield* load();
      const changed = document.links.map((link) => ({ ...link, gameId: "9" }));
      yield* load({ links: changed });
      assert.deepStrictEqual(yield* chatsOfOne, ["10002", "10001"].map(chatId));
    }).pipe(Effect.provide(world)),
  );

  it.effect("stores sightings through the vault, once", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(5);
      const { recorded, loadInto } = yield* seeing;
      yield* loadInto(vault);
      const { protect } = yield* AddressVault;
      const hashOf = (text: string) => Effect.map(protect(address(text)), ({ hash }) => hash);
      const expected = [
        ["10001", yield* hashOf("203.0.113.7"), Date.parse(seenAt)],
        ["10002", yield* hashOf("2001:db8::1"), 5],
      ];
      assert.deepStrictEqual(recorded, [expected]);
      yield* loadInto(vault);
      assert.deepStrictEqual(recorded, [expected]);
    }).pipe(Effect.provide(vault)),
  );

  it.effect("says how many sightings it cannot load without an address key, and loads them with one", () =>
    Effect.gen(function* () {
      const { recorded, warnings, loadInto } = yield* seeing;
      yield* loadInto(Layer.empty);
      assert.deepStrictEqual(recorded, []);
      assert.deepStrictEqual(warnings, [
        "2 sightings of the fixture are not loaded, since there is no address key",
      ]);
      yield* loadInto(vault);
      assert.strictEqual(recorded.length, 1);
      assert.strictEqual(warnings.length, 1);
    }),
  );

  it.effect("refuses a file that is not a fixture, before anything of it is stored", () =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(
        load({ links: [{ account: "acme", scope: "global", chatId: "1" }] }),
      );
      assert.strictEqual(refusal._tag, "InvalidFixture");
      assert.deepStrictEqual(yield* (yield* KeyStore).listKeys(null), []);
    }).pipe(Effect.provide(world)),
  );
});
