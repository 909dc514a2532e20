/** Keys derived from a secret, and encryption with them. */
import { Effect, Redacted, Result } from "effect";
import { Aead, Kdf, SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";

const encoder = new TextEncoder();
const { nonceLength } = Aead.aes256Gcm;

/** Derives an independent 32-byte key for one purpose from a secret, with HKDF-SHA-256. */
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
 * Encrypts bytes with AES-256-GCM. Returns a random nonce and the ciphertext with its tag, in base64url.
 *
 * @param purpose additional authenticated data; `unseal` needs the same text
 */
export const seal = Effect.fnUntraced(function* (key: Aead.Key, bytes: Uint8Array, purpose: string) {
  const aead = yield* Aead.Aead;
  const nonce = yield* (yield* SecureRandom.SecureRandom).randomBytes(nonceLength);
  const aad = encoder.encode(purpose);
  const ciphertext = yield* Effect.orDie(aead.encrypt(key, bytes, { nonce, aad }));
  return Base64Url.encode(new Uint8Array([...nonce, ...ciphertext]));
});

/** Decrypts a text that `seal` returned. Returns none if the key or the purpose differs, or if the text was changed. */
export const unseal = Effect.fnUntraced(function* (key: Aead.Key, text: string, purpose: string) {
  const aead = yield* Aead.Aead;
  const bytes = Result.getOrElse(Base64Url.decode(text), () => new Uint8Array());
  const [nonce, ciphertext] = [bytes.subarray(0, nonceLength), bytes.subarray(nonceLength)];
  const aad = encoder.encode(purpose);
  return yield* Effect.option(aead.decrypt(key, ciphertext, { nonce, aad }));
});
