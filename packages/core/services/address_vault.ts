/**
 * Client addresses as they are stored: matched by a keyed hash, kept encrypted, never in the clear.
 */
import { Context, Effect, Layer, type Redacted } from "effect";
import { Aead, type Kdf, Mac, SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { NetAddress } from "effect/net";
import type { ClientAddress } from "../client_address.ts";
import { deriveKey } from "../internal/derive_key.ts";
import type { ProtectedAddress } from "../sighting.ts";

const encoder = new TextEncoder();

/** Protects addresses with the newest of the deployment's address keys. */
export class AddressVault extends Context.Service<
  AddressVault,
  {
    /** Hashes what the address counts as (HMAC-SHA-256) and encrypts the address itself (AES-256-GCM). */
    readonly protect: (address: ClientAddress) => Effect.Effect<ProtectedAddress>;
  }
>()("@accountlink/core/AddressVault") {
  /**
   * @param keys 32 or more random bytes each, by id, newest first; at least one
   */
  static readonly layer = (
    keys: ReadonlyMap<string, Redacted.Redacted<Uint8Array>>,
  ): Layer.Layer<AddressVault, never, Aead.Aead | Kdf.Kdf | Mac.Mac | SecureRandom.SecureRandom> =>
    Layer.effect(
      AddressVault,
      Effect.gen(function* () {
        const [newest] = keys;
        if (newest === undefined) return yield* Effect.die(new Error("Cannot protect addresses: no key"));
        const [addressKeyId, secret] = newest;
        const aead = yield* Aead.Aead;
        const mac = yield* Mac.Mac;
        const random = yield* SecureRandom.SecureRandom;
        const hashKey = yield* Mac.key(Mac.hmacSha256, yield* deriveKey(secret, "address-hash"));
        const sealKey = yield* Aead.key(Aead.aes256Gcm, yield* deriveKey(secret, "address-seal"));

        const seal = Effect.fnUntraced(function* (text: string) {
          const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength);
          const aad = encoder.encode(addressKeyId);
          const ciphertext = yield* aead.encrypt(sealKey, encoder.encode(text), { nonce, aad });
          return Base64Url.encode(new Uint8Array([...nonce, ...ciphertext]));
        });

        return AddressVault.of({
          protect: ({ ip, countedAs }) =>
            Effect.all({
              hash: Effect.map(mac.sign(hashKey, encoder.encode(countedAs)), Base64Url.encode),
              sealed: seal(NetAddress.formatIp(ip)),
              addressKeyId: Effect.succeed(addressKeyId),
            }).pipe(Effect.orDie),
        });
      }).pipe(Effect.orDie),
    );
}
