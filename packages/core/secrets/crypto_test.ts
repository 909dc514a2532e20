import { assert, test } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { Aead, Mac, SecureRandom } from "effect/crypto";
import { webCrypto } from "./crypto.ts";

const bytes = (length: number, value = 7) => new Uint8Array(length).fill(value);
const options = { nonce: bytes(12, 1), aad: bytes(5, 2) };

const onlyWeb = Layer.merge(Aead.layerWebCrypto, Mac.layerWebCrypto).pipe(
  Layer.provide(SecureRandom.layerWebCrypto),
);

const on = <A, E>(body: (aead: Aead.Aead["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(Aead.Aead, body).pipe(Effect.provide(webCrypto));

test.each([0, 1, 16, 1_000])("AES-256-GCM encrypts %i bytes as Web Crypto does", function* (length) {
  const key = yield* Aead.key(Aead.aes256Gcm, bytes(32));
  const encrypt = (aead: Aead.Aead["Service"]) => aead.encrypt(key, bytes(length), options);
  const sealed = yield* on(encrypt);
  const expected = yield* Effect.flatMap(Aead.Aead, encrypt).pipe(Effect.provide(onlyWeb));
  assert.deepStrictEqual(sealed, expected);
  const opened = yield* on((aead) => aead.decrypt(key, sealed, options));
  assert.deepStrictEqual(opened, bytes(length));
});

test("decryption fails for a changed text, nonce or additional data", function* () {
  const key = yield* Aead.key(Aead.aes256Gcm, bytes(32));
  const sealed = yield* on((aead) => aead.encrypt(key, bytes(20), options));
  const changed = sealed.map((byte, index) => (index === 3 ? byte ^ 1 : byte));
  for (const [text, other] of [
    [changed, options],
    [sealed, { ...options, nonce: bytes(12, 3) }],
    [sealed, { ...options, aad: bytes(5, 3) }],
  ] as const) {
    const error = yield* Effect.flip(on((aead) => aead.decrypt(key, text, other)));
    assert.strictEqual(error.reason._tag, "DecryptionFailed");
  }
});

test.each([Mac.hmacSha256, Mac.hmacSha512])("$hash.name signs as Web Crypto does", function* (algorithm) {
  const key = yield* Mac.key(algorithm, bytes(32));
  const sign = Effect.flatMap(Mac.Mac, (mac) => mac.sign(key, bytes(100)));
  const expected = yield* Effect.provide(sign, onlyWeb);
  for (const _ of ["with a new key", "with the same"])
    assert.deepStrictEqual(yield* Effect.provide(sign, webCrypto), expected);
});
