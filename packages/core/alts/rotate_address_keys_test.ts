import { StorageMemory } from "@accountlink/memory";
import { assert, test } from "@accountlink/test-servers/effect";
import { Effect, Layer, Redacted } from "effect";
import { Aead, Kdf, Mac, SecureRandom } from "effect/crypto";
import { AddressVault } from "../addresses/address_vault.ts";
import { Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { address, chatId } from "../test_services.ts";
import { type AddressRotation, rotateAddressKeys } from "./rotate_address_keys.ts";
import { SightingStore } from "./sighting_store.ts";

const crypt = Layer.mergeAll(Aead.layerWebCrypto, Kdf.layerWebCrypto, Mac.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto),
);
const onNewStore = Effect.provide(Layer.merge(StorageMemory.layer, crypt), { local: true });

/** A vault with keys of these ids, newest first. An id always has the same key. */
const vault = (...ids: ReadonlyArray<string>) =>
  AddressVault.layer(
    new Map(ids.map((id) => [id, Redacted.make(new Uint8Array(32).fill(id.charCodeAt(1)))])),
  );

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

test("a rotation of address keys resumes after an interruption", () =>
  Effect.gen(function* () {
    yield* addScope;
    const count = 1_234;
    yield* Effect.provide(
      Effect.forEach(
        Array.from({ length: count }, (_, i) => i),
        (i) => see(`10.0.${Math.floor(i / 256)}.${i % 256}`, i),
      ),
      vault("k1"),
    );
    yield* Effect.provide(
      Effect.gen(function* () {
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
      }),
      vault("k2", "k1"),
    );
  }).pipe(onNewStore));
