/** The signature by which the chat platform proves that a request is its own. */
import { Clock, Effect, Result } from "effect";
import { Hex } from "effect/encoding";

/** How far the timestamp of a request may be off, in milliseconds. */
export const tolerance = 300_000;

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

/**
 * Returns how far the timestamp of a signed body is ahead of this machine's clock, in milliseconds; null if the owner of the
 * key signed neither.
 */
export const signedLead = Effect.fnUntraced(function* (
  key: CryptoKey,
  { signature, timestamp, body }: SignedBody,
) {
  const signed = Hex.decode(signature);
  if (Result.isFailure(signed) || signed.success.length !== 64 || !/^\d{1,12}$/.test(timestamp)) return null;
  const prefix = new TextEncoder().encode(timestamp);
  const text = new Uint8Array(prefix.length + body.length);
  text.set(prefix);
  text.set(body, prefix.length);
  const verified = crypto.subtle.verify("Ed25519", key, bytesOf(signed.success), text);
  if (!(yield* Effect.promise(() => verified))) return null;
  return Number(timestamp) * 1_000 - (yield* Clock.currentTimeMillis);
});

/** Web Crypto takes no views of shared memory, which the type of the decoder allows. */
const bytesOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);
