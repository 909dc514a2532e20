/**
 * Signs and encrypts in the calling thread where Node is, since Web Crypto sends every call to another thread: decrypting
 * the 1,000 addresses of a user took 35 ms with it.
 */
import type { Aead } from "effect/crypto";

type Bytes = Uint8Array;

interface Ciphering {
  readonly setAAD: (data: Bytes) => Ciphering;
  readonly update: (data: Bytes) => Bytes;
  readonly final: () => Bytes;
  readonly getAuthTag: () => Bytes;
  readonly setAuthTag: (tag: Bytes) => Ciphering;
}

type KeyObject = object & { readonly type?: unknown };

interface NodeCrypto {
  readonly createSecretKey: (key: Bytes) => KeyObject;
  readonly createHmac: (
    hash: string,
    key: KeyObject,
  ) => { readonly update: (data: Bytes) => { readonly digest: () => Bytes } };
  readonly createCipheriv: (cipher: string, key: KeyObject, nonce: Bytes) => Ciphering;
  readonly createDecipheriv: (
    cipher: string,
    key: KeyObject,
    nonce: Bytes,
    options: { readonly authTagLength: number },
  ) => Ciphering;
}

const { process, navigator } = globalThis as {
  readonly process?: {
    readonly release?: { readonly name?: string };
    readonly getBuiltinModule?: (id: "node:crypto") => NodeCrypto | undefined;
  };
  readonly navigator?: { readonly userAgent?: string };
};

/** Other runtimes have the module as well, without all of its ciphers. Node 20 has no `navigator`. */
const isNode = process?.release?.name === "node" && (navigator?.userAgent ?? "Node.js").startsWith("Node.js");

const cipher = "aes-256-gcm";
const tagLength = 16;

const joined = (...parts: ReadonlyArray<Bytes>): Bytes => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

const make = (node: NodeCrypto) => {
  // Node would make a key object for each call, which takes four times as long as decrypting or signing.
  const keyObjects = new WeakMap<Bytes, KeyObject>();
  const keyObjectOf = (key: Bytes): KeyObject => {
    const known = keyObjects.get(key) ?? node.createSecretKey(key);
    keyObjects.set(key, known);
    return known;
  };

  const aes256Gcm: Aead.Implementation = {
    encrypt: (key, nonce, plaintext, aad) => {
      const encrypting = node.createCipheriv(cipher, keyObjectOf(key), nonce).setAAD(aad);
      const [text, end] = [encrypting.update(plaintext), encrypting.final()];
      return joined(text, end, encrypting.getAuthTag());
    },
    decrypt: (key, nonce, ciphertext, aad) => {
      const end = ciphertext.length - tagLength;
      const decrypting = node
        .createDecipheriv(cipher, keyObjectOf(key), nonce, { authTagLength: tagLength })
        .setAAD(aad)
        .setAuthTag(ciphertext.subarray(end));
      const plaintext = decrypting.update(ciphertext.subarray(0, end));
      try {
        // Throws if the tag does not match.
        decrypting.final();
      } catch {
        return undefined;
      }
      return joined(plaintext);
    },
  };

  return {
    aead: { implementations: { aes256Gcm } },
    mac: {
      hmac: (hash: string, key: Bytes, data: Bytes) =>
        joined(node.createHmac(hash, keyObjectOf(key)).update(data).digest()),
    },
  };
};

const node = isNode ? process.getBuiltinModule?.("node:crypto") : undefined;

/** Options of the layers of `effect/crypto`, which use Web Crypto for functions that are left out. */
export const nodeCrypto: Partial<ReturnType<typeof make>> = node === undefined ? {} : make(node);
