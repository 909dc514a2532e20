/** Provides the cryptographic services that core requires, on Node. */
import { webCrypto } from "@accountlink/core/secrets";
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import { Layer } from "effect";

/** Signatures and encryption of core are Node's as well; of merged layers the last one counts. */
export const cryptoLayer = Layer.mergeAll(
  webCrypto,
  NodeCrypto.layerSecureRandom,
  NodeCrypto.layerDigest,
  NodeCrypto.layerKdf,
);
