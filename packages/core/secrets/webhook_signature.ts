import { Effect } from "effect";
import { Mac } from "effect/crypto";
import { Base64 } from "effect/encoding";

/**
 * Signs a text with the bytes of a webhook's secret, as Standard Webhooks 1.0 says: HMAC-SHA-256 in base64. @internal
 */
export const webhookSignature = Effect.fnUntraced(function* (secret: Uint8Array, text: string) {
  const mac = yield* Mac.Mac;
  const key = yield* Mac.key(Mac.hmacSha256, secret);
  return Base64.encode(yield* mac.sign(key, new TextEncoder().encode(text)));
}, Effect.orDie);
