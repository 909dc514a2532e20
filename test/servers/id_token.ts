import { subtle } from "node:crypto";

export interface IdTokenParts {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface IdTokenSigner {
  /** The public key, as in a JWK Set. */
  readonly publicKey: object;
  /** Returns a token that is issued now and valid for a minute, unless the claims say otherwise. */
  readonly sign: (parts: IdTokenParts) => Promise<string>;
}

/** Makes a signer with a new key, whose `kid` is `key-1`. */
export const makeIdTokenSigner = async (): Promise<IdTokenSigner> => {
  const pair = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const publicKey = await subtle.exportKey("jwk", pair.publicKey);
  return {
    publicKey: {
      kty: "EC",
      crv: "P-256",
      x: publicKey.x,
      y: publicKey.y,
      kid: "key-1",
      use: "sig",
      alg: "ES256",
    },
    sign: async ({ header, claims }) => {
      const now = Math.floor(Date.now() / 1_000);
      const content = [
        { alg: "ES256", kid: "key-1", typ: "JWT", ...header },
        { iat: now, exp: now + 60, ...claims },
      ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
      const signature = await subtle.sign(
        { name: "ECDSA", hash: "SHA-256" },
        pair.privateKey,
        Buffer.from(content.join(".")),
      );
      return [...content, Buffer.from(signature).toString("base64url")].join(".");
    },
  };
};
