import { Effect, Redacted } from "effect";
import { Kdf } from "effect/crypto";

const encoder = new TextEncoder();

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
