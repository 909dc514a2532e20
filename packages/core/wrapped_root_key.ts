/**
 * The root key as a store keeps it: `v1.` and the key, encrypted with AES-256-GCM under a key that HKDF-SHA-256 derives
 * from the deployment's secret.
 */
import { Effect, Option, Redacted } from "effect";
import { Aead } from "effect/crypto";
import { deriveKey } from "./internal/derive_key.ts";
import { seal, unseal } from "./internal/sealed_text.ts";

type Bytes = Redacted.Redacted<Uint8Array>;

const version = "v1.";
const purpose = "root-key";

const wrappingKey = Effect.fnUntraced(function* (secret: Bytes) {
  return yield* Aead.key(Aead.aes256Gcm, yield* deriveKey(secret, "root-key-wrap"));
}, Effect.orDie);

/** Wraps a root key with a secret. The text differs each time. */
export const wrapRootKey = Effect.fnUntraced(function* (rootKey: Bytes, secret: Bytes) {
  return version + (yield* seal(yield* wrappingKey(secret), Redacted.value(rootKey), purpose));
});

/** Gives the root key, or none when the secret is another than the one that wrapped it, or the text is damaged. */
export const unwrapRootKey = Effect.fnUntraced(function* (wrapped: string, secret: Bytes) {
  if (!wrapped.startsWith(version)) return Option.none<Bytes>();
  const bytes = yield* unseal(yield* wrappingKey(secret), wrapped.slice(version.length), purpose);
  return Option.map(bytes, (key): Bytes => Redacted.make(key));
});
