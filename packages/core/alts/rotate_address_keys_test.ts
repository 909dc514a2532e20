import { StorageMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { AddressVault } from "../addresses/address_vault.ts";
import { Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { address, chatId, vaultWith } from "../test_services.ts";
import { type AddressRotation, rotateAddressKeys } from "./rotate_address_keys.ts";
import { SightingStore } from "./sighting_store.ts";

const scope = Pid.make("pid_0123456789abcdefghij");
const ada = chatId("10001");

const addScope = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  yield* keys.ensureScope("acme", { kind: "global" }, scope);
});

const see = Effect.fnUntraced(function* (ip: string, seenAt: number) {
  const protectedAddress = yield* (yield* AddressVault).protect(address(ip));
  yield* (yield* SessionStore).recordSightings(scope, [{ chatId: ada, address: protectedAddress, seenAt }]);
});

testWith(Layer.fresh(StorageMemory.layer))("a rotation resumes after an interruption", function* () {
  yield* addScope;
  const count = 1_234;
  const places = Array.from({ length: count }, (_, i) => see(`10.0.${Math.floor(i / 256)}.${i % 256}`, i));
  yield* Effect.provide(Effect.all(places), vaultWith(1));
  yield* Effect.gen(function* () {
    const first: Array<AddressRotation> = [];
    yield* Effect.exit(
      rotateAddressKeys((progress) => {
        first.push(progress);
        return first.length === 2 ? Effect.interrupt : Effect.void;
      }),
    );
    assert.deepEqual(first.at(-1), { rotated: 1_000, unreadable: 0, total: count });
    assert.deepEqual(yield* rotateAddressKeys(), { rotated: 234, unreadable: 0, total: 234 });
    assert.deepEqual(yield* (yield* SightingStore).countByKey(), new Map([["k2", count]]));
  }).pipe(Effect.provide(vaultWith(2, 1)));
});
