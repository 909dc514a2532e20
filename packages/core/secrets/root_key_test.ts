import { StorageMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option, Redacted } from "effect";
import { webCrypto } from "./crypto.ts";
import { type DeploymentSecrets, RootKey, RootKeyStore, unwrapRootKey, wrapRootKey } from "./root_key.ts";

const secretOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte));
const [old, next, other] = [secretOf(1), secretOf(2), secretOf(3)];

const test = testWith(Layer.fresh(Layer.merge(StorageMemory.layer, webCrypto)));

const rootKeyUnder = (...secrets: DeploymentSecrets) =>
  RootKey.pipe(Effect.map(Redacted.value), Effect.provide(RootKey.layer(secrets)));

const isRejected = Effect.fnUntraced(function* (...secrets: DeploymentSecrets) {
  return (yield* Effect.flip(rootKeyUnder(...secrets)))._tag === "SecretRejected";
});

test("each empty store gets a random root key, which stays the same with the same secret", function* () {
  const rootKey = yield* rootKeyUnder(old);
  assert.lengthOf(rootKey, 32);
  assert.notDeepEqual(rootKey, Redacted.value(old));
  assert.deepEqual(yield* rootKeyUnder(old), rootKey);
  assert.isTrue(yield* isRejected(other));
  assert.deepEqual(yield* rootKeyUnder(old), rootKey);
});

test("the root key is created with the older of two secrets, because other nodes may have only that one", function* () {
  const rootKey = yield* rootKeyUnder(next, old);
  assert.deepEqual(yield* rootKeyUnder(old), rootKey);
});

test("a root key whose text was changed is rejected", function* () {
  const rootKey = yield* rootKeyUnder(old);
  const store = yield* RootKeyStore;
  const wrapped = yield* store.adopt("");
  for (const damaged of [`${wrapped}A`, wrapped.slice(0, -2), wrapped.replace("v1", "v2"), "v1.", ""]) {
    assert.isTrue(yield* store.replace(yield* store.adopt(""), damaged));
    assert.isTrue(yield* isRejected(old));
  }
  assert.isTrue(yield* store.replace("", wrapped));
  assert.deepEqual(yield* rootKeyUnder(old), rootKey);
});

test("wrapping a root key twice gives different texts, and only the wrapping secret unwraps them", function* () {
  const [one, two] = [yield* wrapRootKey(old, next), yield* wrapRootKey(old, next)];
  assert.notStrictEqual(one, two);
  for (const wrapped of [one, two]) {
    assert.match(wrapped, /^v1\.[\w-]{80}$/);
    assert.deepEqual(
      Option.map(yield* unwrapRootKey(wrapped, next), Redacted.value),
      Option.some(Redacted.value(old)),
    );
    assert.isTrue(Option.isNone(yield* unwrapRootKey(wrapped, old)));
  }
});
