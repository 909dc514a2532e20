import { Layer } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";

/**
 * All cryptography that the services require, by Web Crypto, which every runtime has.
 *
 * @example
 * ```ts
 * import { Effect, Layer, Redacted } from "effect";
 *
 * const secret = Redacted.make(crypto.getRandomValues(new Uint8Array(32)));
 * const secrets = Secrets.layer.pipe(Layer.provide([Layer.succeed(RootKey, secret), webCrypto]));
 * const hash = Effect.flatMap(Secrets, ({ keyHash }) => keyHash("alk_…"));
 * (await Effect.runPromise(Effect.provide(hash, secrets))).length; // 43
 * ```
 */
export const webCrypto: Layer.Layer<
  Aead.Aead | Digest.Digest | Kdf.Kdf | Mac.Mac | SecureRandom.SecureRandom
> = Layer.mergeAll(Aead.layerWebCrypto, Digest.layerWebCrypto, Kdf.layerWebCrypto, Mac.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto),
);
