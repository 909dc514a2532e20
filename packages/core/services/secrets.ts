/**
 * Everything that is computed with the deployment's root key.
 */
import { Context, Effect, Layer, type Redacted } from "effect";
import { Kdf, Mac, SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import type { ClientAddress } from "../client_address.ts";
import { type FlowId, type Pid, SessionId, type Sid } from "../ids.ts";
import { deriveKey } from "../internal/derive_key.ts";
import type { Link } from "../link.ts";
import { RootKey } from "../root_key.ts";

const encoder = new TextEncoder();
/** Every request asks for the name of its address. */
const rememberedAddresses = 10_000;

const webCryptoMac = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto));

/** Keyed hashes. Without the root key none of them can be computed or checked. */
export class Secrets extends Context.Service<
  Secrets,
  {
    /** Names the deployment and tells nothing of its keys: the same on every node. 22 base64url characters. */
    readonly deploymentId: string;

    /** The hash under which a key is stored: HMAC-SHA-256 of the whole key, base64url. */
    readonly keyHash: (token: string) => Effect.Effect<string>;

    /**
     * The opaque marker of a link: the same for the same scope, chat ID, game ID and version, different otherwise.
     * 32 base64url characters.
     */
    readonly linkHash: (pid: Pid, link: Link) => Effect.Effect<string>;

    /**
     * What the requests of a client address are counted under, which tells nobody the address. 22 base64url characters.
     */
    readonly addressName: (address: ClientAddress) => Effect.Effect<string>;

    /** What a verification flow is stored under: a keyed hash of the cookie that its browser holds. */
    readonly flowId: (cookie: string) => Effect.Effect<FlowId>;

    /** What a verification session is stored under: a keyed hash of its sid. */
    readonly sessionId: (sid: Sid) => Effect.Effect<SessionId>;

    /**
     * What a sign-in at a platform is stored under, and its secrets, all of them keyed hashes of its `state`. 43 base64url
     * characters each.
     */
    readonly signIn: (state: string) => Effect.Effect<{
      readonly stateHash: string;
      readonly codeVerifier: string;
      readonly nonce: string;
    }>;

    /** What the forms of a flow carry, so that no other page can send them: the same for the same flow and subject. */
    readonly flowCsrf: (id: FlowId, subject: SessionId | Pid) => Effect.Effect<string>;
  }
>()("@accountlink/core/Secrets") {
  /** Each use has a key of its own, derived from the root key with HKDF-SHA-256. */
  static readonly layer: Layer.Layer<Secrets, never, RootKey | Mac.Mac | Kdf.Kdf> = Layer.effect(
    Secrets,
    Effect.gen(function* () {
      const mac = yield* Mac.Mac;
      const rootKey = yield* RootKey;

      const signerFor = Effect.fnUntraced(function* (purpose: string) {
        const key = yield* Mac.key(Mac.hmacSha256, yield* deriveKey(rootKey, purpose));
        return (text: string) => mac.sign(key, encoder.encode(text)).pipe(Effect.orDie);
      });
      const signKey = yield* signerFor("key-hash");
      const signLink = yield* signerFor("link-hash");
      const signAddress = yield* signerFor("address-name");
      const addressNames = new Map<string, string>();
      const signCookie = yield* signerFor("flow-id");
      const signForm = yield* signerFor("flow-csrf");
      const signVerification = yield* signerFor("verification");
      const verificationHash = (use: string, text: string) =>
        Effect.map(signVerification(`${use}\n${text}`), Base64Url.encode);

      const deployment = yield* deriveKey(rootKey, "deployment-id");

      return Secrets.of({
        deploymentId: Base64Url.encode(deployment.subarray(0, 16)),
        keyHash: (token) => Effect.map(signKey(token), Base64Url.encode),
        linkHash: (pid, link) =>
          Effect.map(signLink(`${pid}\n${link.chatId}\n${link.gameId}\n${link.linkVersion}`), (tag) =>
            Base64Url.encode(tag.subarray(0, 24)),
          ),
        addressName: ({ countedAs }) => {
          const known = addressNames.get(countedAs);
          if (known !== undefined) return Effect.succeed(known);
          return Effect.map(signAddress(countedAs), (tag) => {
            const name = Base64Url.encode(tag.subarray(0, 16));
            if (addressNames.size >= rememberedAddresses) addressNames.clear();
            addressNames.set(countedAs, name);
            return name;
          });
        },
        flowId: (cookie) => Effect.map(signCookie(cookie), (tag) => Base64Url.encode(tag) as FlowId),
        sessionId: (sid) => Effect.map(verificationHash("sid", sid), (hash) => SessionId.make(`vs_${hash}`)),
        signIn: (state) =>
          Effect.all({
            stateHash: verificationHash("state", state),
            codeVerifier: verificationHash("code-verifier", state),
            nonce: verificationHash("nonce", state),
          }),
        flowCsrf: (id, subject) => Effect.map(signForm(`${id}\n${subject}`), Base64Url.encode),
      });
    }).pipe(Effect.orDie),
  );

  /** The same with a given root key, on Web Crypto, which every runtime has. */
  static readonly layerWebCrypto = (rootKey: Redacted.Redacted<Uint8Array>): Layer.Layer<Secrets> =>
    Secrets.layer.pipe(Layer.provide([Layer.succeed(RootKey, rootKey), webCryptoMac, Kdf.layerWebCrypto]));
}
