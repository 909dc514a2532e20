/** The signature by which the chat platform proves that a request is its own. */
import { Clock, Effect, Result } from "effect";
import { Hex } from "effect/encoding";

/** How far the timestamp of a request may be off, in milliseconds. */
const tolerance = 300_000;

/** How long a signature can be valid, in milliseconds. */
export const signatureLife = 2 * tolerance;

interface SignedBody {
  /** Ed25519, in hexadecimal. */
  readonly signature: string;
  /** Seconds since 1970. */
  readonly timestamp: string;
  readonly body: Uint8Array;
}

/** @param hex an Ed25519 public key */
export const importPublicKey = (hex: string): Effect.Effect<CryptoKey> =>
  Effect.promise(() =>
    crypto.subtle.importKey("raw", bytesOf(Result.getOrThrow(Hex.decode(hex))), "Ed25519", false, ["verify"]),
  );

/** Whether the owner of the key signed the timestamp and the body, at most 5 minutes ago. */
export const isSigned = Effect.fnUntraced(function* (
  key: CryptoKey,
  { signature, timestamp, body }: SignedBody,
) {
  const signed = Hex.decode(signature);
  if (Result.isFailure(signed) || signed.success.length !== 64 || !/^\d{1,12}$/.test(timestamp)) return false;
  const now = yield* Clock.currentTimeMillis;
  if (Math.abs(now - Number(timestamp) * 1_000) > tolerance) return false;
  const prefix = new TextEncoder().encode(timestamp);
  const text = new Uint8Array(prefix.length + body.length);
  text.set(prefix);
  text.set(body, prefix.length);
  return yield* Effect.promise(() => crypto.subtle.verify("Ed25519", key, bytesOf(signed.success), text));
});

/** Web Crypto takes no views of shared memory, which the type of the decoder allows. */
const bytesOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);
