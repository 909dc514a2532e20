/**
 * Everything that is computed with the deployment's secret.
 */
import { Context, Effect, Layer, Redacted } from "effect";
import { Kdf, Mac, SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import type { Pid } from "../ids.ts";
import type { Link } from "../link.ts";

const encoder = new TextEncoder();
const webCryptoMac = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto));

/** Keyed hashes. Without the secret none of them can be computed or checked. */
export class Secrets extends Context.Service<
  Secrets,
  {
    /** The hash under which a key is stored: HMAC-SHA-256 of the whole key, base64url. */
    readonly keyHash: (token: string) => Effect.Effect<string>;

    /**
     * The opaque marker of a link: the same for the same scope, chat ID, game ID and version, different otherwise.
     * 32 base64url characters.
     */
    readonly linkHash: (pid: Pid, link: Link) => Effect.Effect<string>;
  }
>()("@accountlink/core/Secrets") {
  /**
   * @param secret 32 or more random bytes. Each use has a key of its own, derived with HKDF-SHA-256.
   */
  static readonly layer = (
    secret: Redacted.Redacted<Uint8Array>,
  ): Layer.Layer<Secrets, never, Mac.Mac | Kdf.Kdf> =>
    Layer.effect(
      Secrets,
      Effect.gen(function* () {
        const mac = yield* Mac.Mac;
        const kdf = yield* Kdf.Kdf;

        const signerFor = Effect.fnUntraced(function* (purpose: string) {
          const bytes = yield* kdf.derive(Kdf.hkdfSha256, Redacted.value(secret), {
            salt: encoder.encode("accountlink"),
            info: encoder.encode(purpose),
            length: 32,
          });
          const key = yield* Mac.key(Mac.hmacSha256, bytes);
          return (text: string) => mac.sign(key, encoder.encode(text)).pipe(Effect.orDie);
        });
        const signKey = yield* signerFor("key-hash");
        const signLink = yield* signerFor("link-hash");

        return Secrets.of({
          keyHash: (token) => Effect.map(signKey(token), Base64Url.encode),
          linkHash: (pid, link) =>
            Effect.map(signLink(`${pid}\n${link.chatId}\n${link.gameId}\n${link.linkVersion}`), (tag) =>
              Base64Url.encode(tag.subarray(0, 24)),
            ),
        });
      }).pipe(Effect.orDie),
    );

  /** The same on Web Crypto, which every runtime has. */
  static readonly layerWebCrypto = (secret: Redacted.Redacted<Uint8Array>): Layer.Layer<Secrets> =>
    Secrets.layer(secret).pipe(Layer.provide([webCryptoMac, Kdf.layerWebCrypto]));
}
