/** ID tokens, signed with a key that is generated at startup. */
import { Clock, Effect } from "effect";
import { KeyFormat, SecureRandom, Signature } from "effect/crypto";
import { Base64Url } from "effect/encoding";

/** The lifetime of an ID token, in seconds. */
const lifetime = 300;

interface Claims {
  readonly sub: string;
  readonly aud: string;
  readonly nonce: string | undefined;
}

export const makeIdTokens = Effect.fnUntraced(function* (issuer: string) {
  const signature = yield* Signature.Signature;
  const random = yield* SecureRandom.SecureRandom;
  const { privateKey, publicKey } = yield* Effect.orDie(signature.generateKeyPair(Signature.ecdsaP256));
  const jwk = yield* Effect.orDie(KeyFormat.encode(KeyFormat.jwk, publicKey));
  const key = { alg: "ES256", kid: Base64Url.encode(yield* random.randomBytes(8)) };
  const header = encoded({ ...key, typ: "JWT" });

  const sign = Effect.fnUntraced(function* (claims: Claims) {
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000);
    const payload = encoded({ ...claims, iss: issuer, iat: now, exp: now + lifetime });
    const signed = `${header}.${payload}`;
    const bytes = yield* Effect.orDie(signature.sign(privateKey, new TextEncoder().encode(signed)));
    return `${signed}.${Base64Url.encode(bytes)}`;
  });

  return { keySet: { keys: [{ ...jwk, ...key, use: "sig" }] }, sign };
});

const encoded = (value: object): string => Base64Url.encode(JSON.stringify(value));
