/**
 * Synchronous cryptography for every runtime, because a simulation cannot wait for the asynchronous Web Crypto. Nothing
 * in a simulation is secret, so weak algorithms that Effect implements in TypeScript are sufficient.
 */
import { Effect, Layer } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";

const { keyLength, nonceLength, implementation } = Aead.chacha20Poly1305;
if (implementation === undefined) throw new Error("Cannot simulate: Effect has no ChaCha20-Poly1305");
const chacha20Poly1305 = implementation;

/** A message authentication code of data under a key: two tags of 16 bytes. */
const codeOf = (key: Uint8Array, data: Uint8Array): Uint8Array => {
  const folded = new Uint8Array(keyLength);
  for (const [index, byte] of key.entries()) (folded[index % keyLength] as number) ^= byte;
  const tag = (part: number) =>
    chacha20Poly1305.encrypt(folded, new Uint8Array(nonceLength).fill(part), new Uint8Array(), data);
  return new Uint8Array([...tag(0), ...tag(1)]);
};

const md5ForAll = Layer.effect(
  Digest.Digest,
  Effect.map(Digest.Digest, ({ digest, digestHex }) => ({
    digest: (_: Digest.Algorithm, data: Uint8Array) => digest(Digest.md5, data),
    digestHex: (_: Digest.Algorithm, data: Uint8Array) => digestHex(Digest.md5, data),
  })),
).pipe(Layer.provide(Digest.layerWebCrypto));

/** Key derivation stays with Web Crypto, since keys are derived before a simulation begins. */
export const cryptography = Layer.mergeAll(
  Aead.layerWebCryptoWith({ implementations: { aes256Gcm: chacha20Poly1305 } }),
  Mac.layerWebCryptoWith({ hmac: (_, key, data) => codeOf(key, data) }),
  Kdf.layerWebCrypto,
  md5ForAll,
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto));
