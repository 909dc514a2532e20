import { Layer } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";

/** All cryptography that the services require, from Web Crypto, which every runtime has. */
export const webCrypto = Layer.mergeAll(
  Aead.layerWebCrypto,
  Digest.layerWebCrypto,
  Kdf.layerWebCrypto,
  Mac.layerWebCrypto,
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto));
