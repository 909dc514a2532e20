/** Keys derived from a secret, encryption and signatures with them, and random tokens. */
import { Effect, Layer, Redacted, Result } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";
import { Base64, Base64Url } from "effect/encoding";
import { nodeCrypto } from "./node_crypto.ts";

const encoder = new TextEncoder();
const { nonceLength } = Aead.aes256Gcm;

/** Derives an independent 32-byte key for one purpose from a secret, with HKDF-SHA-256. @internal */
export const deriveKey = Effect.fnUntraced(function* (
  secret: Redacted.Redacted<Uint8Array>,
  purpose: string,
) {
  const kdf = yield* Kdf.Kdf;
  return yield* kdf.derive(Kdf.hkdfSha256, Redacted.value(secret), {
    salt: encoder.encode("accountlink"),
    info: encoder.encode(purpose),
    length: 32,
  });
});

/**
 * Encrypts and decrypts with AES-256-GCM. A purpose is additional authenticated data: `unseal` needs the same text as
 * `seal`. The functions hold their services: to provide them for each call, Effect copies all services of a request.
 *
 * @internal
 */
export const makeSealing = Effect.gen(function* () {
  const aead = yield* Aead.Aead;
  const random = yield* SecureRandom.SecureRandom;
  return {
    /** Returns a random nonce and the ciphertext with its tag, in base64url. */
    seal: (key: Aead.Key, bytes: Uint8Array, purpose: string) =>
      Effect.flatMap(random.randomBytes(nonceLength), (nonce) =>
        aead.encrypt(key, bytes, { nonce, aad: encoder.encode(purpose) }).pipe(
          Effect.orDie,
          Effect.map((ciphertext) => {
            const sealed = new Uint8Array(nonceLength + ciphertext.length);
            sealed.set(nonce);
            sealed.set(ciphertext, nonceLength);
            return Base64Url.encode(sealed);
          }),
        ),
      ),

    /** Decrypts a text that `seal` returned. None if the key or the purpose differs, or if the text was changed. */
    unseal: (key: Aead.Key, text: string, purpose: string) => {
      const bytes = Result.getOrElse(Base64Url.decode(text), () => new Uint8Array());
      const [nonce, ciphertext] = [bytes.subarray(0, nonceLength), bytes.subarray(nonceLength)];
      return Effect.option(aead.decrypt(key, ciphertext, { nonce, aad: encoder.encode(purpose) }));
    },
  };
});

/** Returns 256 random bits in base64url, 43 characters. @internal */
export const randomToken = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<string> =>
  Effect.map(random.randomBytes(32), Base64Url.encode);

/**
 * Signs a text with the bytes of a webhook's secret, as Standard Webhooks 1.0 says: HMAC-SHA-256 in base64. @internal
 */
export const webhookSignature = Effect.fnUntraced(function* (secret: Uint8Array, text: string) {
  const mac = yield* Mac.Mac;
  const key = yield* Mac.key(Mac.hmacSha256, secret);
  return Base64.encode(yield* mac.sign(key, new TextEncoder().encode(text)));
}, Effect.orDie);

/**
 * All cryptography that the services require, from Web Crypto, which every runtime has. On Node, Node's own module signs
 * and encrypts.
 */
export const webCrypto = Layer.mergeAll(
  Aead.layerWebCryptoWith(nodeCrypto.aead ?? {}),
  Digest.layerWebCrypto,
  Kdf.layerWebCrypto,
  Mac.layerWebCryptoWith(nodeCrypto.mac ?? {}),
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto));
