/** Bytes encrypted with AES-256-GCM, as text: base64url of a random nonce and the ciphertext with its tag. */
import { Effect, Result } from "effect";
import { Aead, SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";

const { nonceLength } = Aead.aes256Gcm;

/** @param purpose additional authenticated data; `unseal` needs the same text */
export const seal = Effect.fnUntraced(function* (key: Aead.Key, bytes: Uint8Array, purpose: string) {
  const aead = yield* Aead.Aead;
  const nonce = yield* (yield* SecureRandom.SecureRandom).randomBytes(nonceLength);
  const aad = new TextEncoder().encode(purpose);
  const ciphertext = yield* Effect.orDie(aead.encrypt(key, bytes, { nonce, aad }));
  return Base64Url.encode(new Uint8Array([...nonce, ...ciphertext]));
});

/** Decrypts sealed bytes. None for another key or purpose, or a changed text. */
export const unseal = Effect.fnUntraced(function* (key: Aead.Key, text: string, purpose: string) {
  const aead = yield* Aead.Aead;
  const bytes = Result.getOrElse(Base64Url.decode(text), () => new Uint8Array());
  const [nonce, ciphertext] = [bytes.subarray(0, nonceLength), bytes.subarray(nonceLength)];
  const aad = new TextEncoder().encode(purpose);
  return yield* Effect.option(aead.decrypt(key, ciphertext, { nonce, aad }));
});
