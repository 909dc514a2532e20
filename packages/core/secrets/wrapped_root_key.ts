/**
 * The stored root key is `v1.` followed by the root key, encrypted with AES-256-GCM under a key derived from the
 * deployment's secret with HKDF-SHA-256.
 */
import { Effect, Option, Redacted } from "effect";
import { Aead } from "effect/crypto";
import { deriveKey, seal, unseal } from "./derived_key.ts";

type Bytes = Redacted.Redacted<Uint8Array>;

const version = "v1.";
const purpose = "root-key";

const wrappingKey = Effect.fnUntraced(function* (secret: Bytes) {
  return yield* Aead.key(Aead.aes256Gcm, yield* deriveKey(secret, "root-key-wrap"));
}, Effect.orDie);

/** Wraps (encrypts) a root key with a secret. Each call returns a different text. @internal */
export const wrapRootKey = Effect.fnUntraced(function* (rootKey: Bytes, secret: Bytes) {
  return version + (yield* seal(yield* wrappingKey(secret), Redacted.value(rootKey), purpose));
});

/** Unwraps a root key. None if another secret wrapped it, or the text is damaged. @internal */
export const unwrapRootKey = Effect.fnUntraced(function* (wrapped: string, secret: Bytes) {
  if (!wrapped.startsWith(version)) return Option.none<Bytes>();
  const bytes = yield* unseal(yield* wrappingKey(secret), wrapped.slice(version.length), purpose);
  return Option.map(bytes, (key): Bytes => Redacted.make(key));
});
