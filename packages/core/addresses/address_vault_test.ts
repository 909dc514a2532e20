import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Option, Redacted } from "effect";
import { Aead, Kdf } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { address, addressKey, vaultWith } from "../test_services.ts";
import { AddressVault } from "./address_vault.ts";

const protect = (text: string) => Effect.flatMap(AddressVault, ({ protect: seal }) => seal(address(text)));
const bytesOf = (text: string) => new TextEncoder().encode(text);

const open = Effect.fnUntraced(function* (sealed: string, keyId = "k1") {
  const aead = yield* Aead.Aead;
  const kdf = yield* Kdf.Kdf;
  const info = { salt: bytesOf("accountlink"), info: bytesOf("address-seal"), length: 32 };
  const secret = yield* kdf.derive(Kdf.hkdfSha256, Redacted.value(addressKey(1)), info);
  const key = yield* Aead.key(Aead.aes256Gcm, secret);
  const bytes = yield* Effect.fromResult(Base64Url.decode(sealed));
  const [nonce, ciphertext] = [bytes.slice(0, 12), bytes.slice(12)];
  return new TextDecoder().decode(yield* aead.decrypt(key, ciphertext, { nonce, aad: bytesOf(keyId) }));
});

const test = testWith(vaultWith(1));

test("a vault hashes the whole IPv4 address and the /64 of an IPv6 address", function* () {
  const hashOf = (text: string) => Effect.map(protect(text), ({ hash }) => hash);
  assert.match(yield* hashOf("203.0.113.7"), /^[\w-]{43}$/);
  assert.strictEqual(yield* hashOf("203.0.113.7"), yield* hashOf("::ffff:203.0.113.7"));
  assert.notStrictEqual(yield* hashOf("203.0.113.7"), yield* hashOf("203.0.113.8"));
  assert.strictEqual(yield* hashOf("2001:db8:1:2::1"), yield* hashOf("2001:db8:1:2:ffff::9"));
  assert.notStrictEqual(yield* hashOf("2001:db8:1:2::1"), yield* hashOf("2001:db8:1:3::1"));
});

test("a vault encrypts the same address differently each time, and decrypts it", function* () {
  const [one, other] = [yield* protect("2001:db8:1:2::7"), yield* protect("2001:db8:1:2::7")];
  assert.notStrictEqual(one.sealed, other.sealed);
  for (const { sealed, addressKeyId } of [one, other]) {
    assert.strictEqual(addressKeyId, "k1");
    assert.strictEqual(yield* open(sealed), "2001:db8:1:2::7");
    assert.notInclude(sealed, Base64Url.encode("2001:db8").slice(0, 10));
  }
});

test("an encrypted address cannot be decrypted after a change or with another key ID", function* () {
  const { sealed } = yield* protect("203.0.113.7");
  assert.strictEqual((yield* Effect.flip(open(sealed, "k2")))._tag, "CryptoError");
  const bytes = yield* Effect.fromResult(Base64Url.decode(sealed));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  assert.strictEqual((yield* Effect.flip(open(Base64Url.encode(bytes))))._tag, "CryptoError");
});

test("a vault encrypts with the newest key, and finds and decrypts addresses of every key", function* () {
  const before = yield* protect("203.0.113.7");
  yield* Effect.gen(function* () {
    const { newestKeyId, hashes, revealEach } = yield* AddressVault;
    const after = yield* protect("203.0.113.7");
    assert.strictEqual(newestKeyId, "k2");
    assert.strictEqual(after.addressKeyId, "k2");
    assert.notStrictEqual(after.hash, before.hash);
    assert.deepEqual(yield* hashes(address("203.0.113.7")), [after.hash, before.hash]);
    const lost = { ...before, addressKeyId: "k0" };
    const wrong = [{ ...before, addressKeyId: "k2" }, lost, { ...before, sealed: "" }];
    const known = Option.some(address("203.0.113.7"));
    const none = Option.none();
    assert.deepEqual(yield* revealEach([before, after, ...wrong]), [known, known, none, none, none]);
  }).pipe(Effect.provide(vaultWith(2, 1)));
});
