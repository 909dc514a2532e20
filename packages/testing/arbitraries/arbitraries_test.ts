import { type ApiKey, LinkStore, type StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { StorageMemory } from "@accountlink/memory";
import { isProof } from "@accountlink/test-servers";
import { assert, expect, it, test } from "@accountlink/test-servers/effect";
import { Effect, Option } from "effect";
import * as FastCheck from "fast-check";
import { completed } from "../builders/complete_fixture.ts";
import { check } from "../check.ts";
import * as MemoryWorld from "../memory/layer.ts";
import * as Arbitrary from "./mod.ts";

/** Every arbitrary by name. Exports that are functions are called without arguments to get their arbitrary. */
const all = Object.entries(Arbitrary).map(([name, value]): [string, FastCheck.Arbitrary<unknown>] => [
  name,
  typeof value === "function" ? (value as () => FastCheck.Arbitrary<unknown>)() : value,
]);

const runs = isProof ? 20 : 5;
const origin = { actor: { type: "operator", id: "test" }, requestId: null } as const;

/** Runs the effect in a new store, which refuses unstorable text. */
const inStore = <A, E>(effect: Effect.Effect<A, E, StoragePorts>) =>
  Effect.provide(effect, StorageMemory.layer, { local: true });

const storeKey = Effect.fnUntraced(function* (key: ApiKey) {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: key.scope.account, chatId: null, tier: key.tier });
  yield* keys.ensureScope(key.scope.account, key.scope, key.scope.pid);
  yield* keys.insertKey({ ...origin, key, hash: "hash", maxKeys: null, at: key.createdAt });
  return keys;
});

it.each(all)("the arbitrary %s gives the same values for the same seed", (_name, arbitrary) => {
  const sample = () => FastCheck.sample(arbitrary, { seed: 7, numRuns: 8 });
  expect(sample()).toEqual(sample());
  expect(new Set(sample().map((value) => JSON.stringify(value))).size).toBeGreaterThan(1);
});

test("sessions are stored unchanged, with the fields that their state requires", () =>
  check(
    FastCheck.record({ key: Arbitrary.apiKey(), session: Arbitrary.session }),
    ({ key, session: { ...session } }) =>
      inStore(
        Effect.gen(function* () {
          yield* storeKey(key);
          const stored = { ...session, keyId: key.id, pid: key.scope.pid };
          const sessions = yield* SessionStore;
          yield* sessions.create({ session: stored, burst: null });
          assert.deepStrictEqual(Option.getOrNull(yield* sessions.find(stored.id)), stored);
          const { state, gameId, previousGameId, completedAt, linkChanged, error } = session;
          if (state === "completed") assert.isNotNull(gameId);
          assert.strictEqual(state === "completed", completedAt !== null);
          assert.strictEqual(state === "failed", error !== null);
          if (state === "completed") assert.strictEqual(linkChanged, gameId !== previousGameId);
          assert.isTrue((completedAt ?? session.createdAt) < session.expiresAt);
        }),
      ),
    { runs },
  ));

test("generated fixtures are complete, and all their links and keys are loaded", () =>
  check(
    Arbitrary.fixture,
    (fixture) => {
      assert.deepStrictEqual(completed(fixture), fixture);
      return Effect.gen(function* () {
        const keys = yield* KeyStore;
        const links = yield* LinkStore;
        for (const { account, chatId, gameId, ...place } of fixture.links) {
          const target =
            place.scope === "guild"
              ? ({ kind: "guild", guildId: place.guildId } as const)
              : ({ kind: "global" } as const);
          const { pid } = Option.getOrThrow(yield* keys.findScope(account, target));
          const link = Option.getOrThrow(yield* links.findByChatId(pid, chatId));
          assert.strictEqual(link.gameId, gameId);
        }
        const stored = yield* keys.listKeys(null, 0);
        assert.strictEqual(stored.length, fixture.keys.length);
      }).pipe(Effect.provide(MemoryWorld.layer(fixture), { local: true }));
    },
    { runs },
  ));
