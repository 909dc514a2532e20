import { Context, Effect, Layer, Option, type Redacted } from "effect";
import { Aead, type Kdf, Mac, SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { NetAddress } from "effect/net";
import { forEachLimited } from "../limited_loops.ts";
import { deriveKey, makeSealing } from "../secrets/crypto.ts";
import { type ClientAddress, parseAddress } from "./client_address.ts";
import type { ProtectedAddress } from "./sighting.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Web Crypto decrypts on other threads, so decrypting several addresses at once saves time. */
const openedAtOnce = 16;

/**
 * Encrypts addresses with the newest of the deployment's address keys, and decrypts them with any of these keys.
 * Addresses are matched by a keyed hash, and are never stored in the clear.
 */
export class AddressVault extends Context.Service<
  AddressVault,
  {
    readonly newestKeyId: string;

    /** Hashes `countedAs` (HMAC-SHA-256) and encrypts the address (AES-256-GCM). */
    readonly protect: (address: ClientAddress) => Effect.Effect<ProtectedAddress>;

    /** Returns the hashes under which the address may be stored: one for each key, the newest key first. */
    readonly hashes: (address: ClientAddress) => Effect.Effect<ReadonlyArray<string>>;

    /** Decrypts addresses. None if the deployment no longer has the address key, or the stored text was changed. */
    readonly revealEach: (
      addresses: ReadonlyArray<ProtectedAddress>,
    ) => Effect.Effect<ReadonlyArray<Option.Option<ClientAddress>>>;
  }
>()("@accountlink/core/AddressVault") {
  /** @param keys the address keys by id, newest first; at least one key, each of 32 or more random bytes */
  static readonly layer = (
    keys: ReadonlyMap<string, Redacted.Redacted<Uint8Array>>,
  ): Layer.Layer<AddressVault, never, Aead.Aead | Kdf.Kdf | Mac.Mac | SecureRandom.SecureRandom> =>
    Effect.gen(function* () {
      const { seal, unseal } = yield* makeSealing;
      const vaultKeys = yield* Effect.forEach(keys, ([id, secret]) => vaultKeyOf(id, secret));
      const [newest] = vaultKeys;
      if (newest === undefined) return yield* Effect.die(new Error("Cannot protect addresses: no key"));

      const open = Effect.fnUntraced(function* ({ sealed, addressKeyId }: ProtectedAddress) {
        const key = vaultKeys.find(({ id }) => id === addressKeyId);
        if (key === undefined) return Option.none<ClientAddress>();
        const bytes = yield* unseal(key.sealKey, sealed, key.id);
        return Option.flatMap(bytes, (text) => parseAddress(decoder.decode(text)));
      });

      return AddressVault.of({
        newestKeyId: newest.id,
        protect: (address) =>
          Effect.all({
            hash: newest.hash(address),
            sealed: seal(newest.sealKey, encoder.encode(NetAddress.formatIp(address.ip)), newest.id),
            addressKeyId: Effect.succeed(newest.id),
          }),
        hashes: (address) => Effect.forEach(vaultKeys, ({ hash }) => hash(address)),
        revealEach: (addresses) => forEachLimited(addresses, openedAtOnce, open),
      });
    }).pipe(Layer.effect(AddressVault));
}

const vaultKeyOf = Effect.fnUntraced(function* (id: string, secret: Redacted.Redacted<Uint8Array>) {
  const mac = yield* Mac.Mac;
  const hashKey = yield* Mac.key(Mac.hmacSha256, yield* deriveKey(secret, "address-hash"));
  const sealKey = yield* Aead.key(Aead.aes256Gcm, yield* deriveKey(secret, "address-seal"));
  const hash = ({ countedAs }: ClientAddress) =>
    Effect.orDie(Effect.map(mac.sign(hashKey, encoder.encode(countedAs)), Base64Url.encode));
  return { id, sealKey, hash };
}, Effect.orDie);
